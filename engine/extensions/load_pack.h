// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/configure/extension_packs.h"
#include "engine/configure/recipe.h"

namespace qs {

/// Reads the pack in the folder, loads its libraries and registers its additions. Tries this first
/// in a copy of the process, so that a library that crashes, throws, hangs or exits while loading,
/// or that is incompatible, causes one error line and no side effect. Returns the loaded pack if
/// the folder is already loaded; fails for another pack of the same name. Loads only packs that the
/// user names; with `sha256`, only if its files still have this hash. Errors name the file.
Result<ExtensionPackPtr> loadPack(const std::string& folder, const JobContext& job = {},
                                  const std::string& sha256 = {});

/// Loads the CUDA libraries of the loaded packs, each once, also after a trial. LibTorch's CUDA
/// part must be loaded. Fails, naming the file, if one is missing, does not load, or changed since
/// its pack was loaded. Any thread.
Result<void> loadCudaLibraries();

/// Returns the recipe with the packs of this process added to its required ones: decisions made
/// with a pack are valid only with that pack.
Recipe withLoadedPacks(Recipe recipe);

} // namespace qs
