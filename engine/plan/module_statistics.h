// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/plan.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

namespace qs {

/// Parameters, operations and bytes of a module. A value.
struct ModuleStatistics
{
    std::int64_t parameters = 0; ///< trained elements; buffers do not count
    /// Multiply-accumulates of one forward pass: convolutions, linear layers, matrix products,
    /// attention, recurrent layers. An open dimension (usually the batch) counts as 1.
    std::int64_t macs = 0;
    bool openDimensions = false; ///< `macs` is per element of an open dimension
    /// Operators that multiply but whose shapes the file does not give; not in `macs`.
    int unknownOps = 0;
    std::int64_t floatBytes = 0; ///< of parameters and buffers in the float model
    /// The same under the plan: quantized weights in their dtype, with 8 bytes of scale and zero
    /// point per channel; batch norms folded; everything else unchanged.
    std::int64_t plannedBytes = 0;
};

/// By path; "" is the model. Modules that hold and compute nothing may be missing.
using ModuleStatisticsMap = std::map<std::string, ModuleStatistics>;

/// Number of elements of a type; open dimensions count as 1. Empty if the shape is unknown.
std::optional<std::int64_t> elementsOf(const ValueType& type);

/// Statistics of every module, inner ones included, in one pass over the graph. A tensor that
/// several operators read counts once. Without a plan `plannedBytes` equals `floatBytes`. Pure.
ModuleStatisticsMap moduleStatistics(const Graph& graph, const Plan* plan);

/// `ModuleStatistics::macs` of each operator that has any. Pure.
std::unordered_map<NodeId, std::int64_t> macsByOperator(const Graph& graph);

} // namespace qs
