// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/configure/backend/lowering_table.h"
#include "engine/configure/backend_config.h"
#include "engine/graph/operators/operators.h"

#include <memory>
#include <string>
#include <vector>

namespace qs {

/// What the folder of an extension pack holds, as its `extension.json` tells it
/// (resources/extensions/README.md). A value without LibTorch; nothing of it is loaded by being
/// read.
struct ExtensionPack
{
    std::string name, description;
    std::string folder; ///< absolute
    std::string torchVersion; ///< that it was built against
    std::vector<std::string> libraries; ///< absolute paths
    std::string sha256; ///< of its JSON and its libraries
    std::vector<OperatorFacts> operators; ///< the kernels and prepack operators of its rows too
    std::vector<BackendPattern> patterns; ///< in every backend, after the backend's own
    std::vector<KernelRow> rows; ///< of the lowering table, before PyTorch's
};
using ExtensionPackPtr = std::shared_ptr<const ExtensionPack>;

/// The packs of this process, in the order in which they were loaded. Any thread.
std::vector<ExtensionPackPtr> loadedPacks();
/// Makes a pack's operators, patterns and rows known. Its libraries are loaded already. Any thread.
void addLoadedPack(ExtensionPackPtr pack);

/// The backend with the loaded packs' patterns after its own; a pattern that it has itself stays
/// the backend's.
Backend withPackPatterns(Backend backend);

/// Refuses (BadInput) where one of the names is of no loaded pack: the line says what to do.
Result<void> checkPacksLoaded(const std::vector<std::string>& names);

/// One hash of all loaded packs; "" where there are none. Part of every key of a result.
std::string loadedPacksKey();

} // namespace qs
