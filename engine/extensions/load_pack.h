// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/configure/extension_packs.h"
#include "engine/configure/recipe.h"

namespace qs {

/// Reads the pack in the folder, loads its libraries and makes known what it adds. All of that is
/// tried in a copy of the process first, so that a library that crashes, throws, hangs or ends the
/// process while it is loaded, or that does not fit, is one line and leaves nothing behind. A pack
/// whose folder is loaded already is returned as it is; another of the same name is refused. Only
/// what the user names is ever loaded; with `sha256`, only if that is still its files' hash. Errors
/// name the file.
Result<ExtensionPackPtr> loadPack(const std::string& folder, const JobContext& job = {},
                                  const std::string& sha256 = {});

/// Loads what the loaded packs have for CUDA, each once, likewise after a trial. LibTorch's CUDA
/// side is there. Errors name the file: one that is missing, that does not load, or that changed
/// since its pack was loaded. Any thread.
Result<void> loadCudaLibraries();

/// The recipe with the packs of this process among those that it asks for: what is decided with a
/// pack holds with that pack alone.
Recipe withLoadedPacks(Recipe recipe);

} // namespace qs
