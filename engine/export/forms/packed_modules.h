// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/code/code_printer.h"

namespace qs {

/// A lowered model that was read from a file, prepared for the code printer: kernels with a packed
/// weight of a module are that module's call, and their weights are ordinary quantized ones.
struct PackedModules
{
    GraphPtr graph; ///< the file's if it has no packed weights
    GraphPtr modules; ///< of `moduleCodeLines`; null without packed weights
    std::vector<CodeFusion> fusions;
};

/// Errors: a weight that cannot be unpacked.
Result<PackedModules> unpackModules(const GraphPtr& model);

} // namespace qs
