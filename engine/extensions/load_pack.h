// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/configure/extension_packs.h"
#include "engine/configure/recipe.h"

namespace qs {

/// Reads the pack in the folder, loads its libraries and registers its additions. Tries all that in
/// a copy of the process first, so that a library that crashes, throws, hangs or ends the process
/// while it is loaded, or that does not fit, gives one error line and no side effect. A pack whose
/// folder is loaded already is returned as it is; another of the same name is refused. Only what
/// the user names is ever loaded; with `sha256`, only if that is still its files' hash. Errors name
/// the file.
Result<ExtensionPackPtr> loadPack(const std::string& folder, const JobContext& job = {},
                                  const std::string& sha256 = {});

/// Loads the CUDA libraries of the loaded packs, each once, likewise after a trial. LibTorch's CUDA
/// side is there. Errors name the file: one that is missing, that does not load, or that changed
/// since its pack was loaded. Any thread.
Result<void> loadCudaLibraries();

/// The recipe with the packs of this process among those that it requires: decisions made with a
/// pack hold only with that pack.
Recipe withLoadedPacks(Recipe recipe);

} // namespace qs
