// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/code/code_printer.h"

namespace qs {

/// A lowered model from a file, prepared for the code printer: a kernel with a module's packed
/// weight becomes a call of that module, and its weight an ordinary quantized tensor.
struct PackedModules
{
    GraphPtr graph; ///< the file's if it has no packed weights
    GraphPtr modules; ///< of `moduleCodeLines`; null without packed weights
    std::vector<CodeFusion> fusions;
};

/// Errors: a weight that cannot be unpacked.
Result<PackedModules> unpackModules(const GraphPtr& model);

} // namespace qs
