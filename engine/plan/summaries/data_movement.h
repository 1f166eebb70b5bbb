// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/plan.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace qs {

/// A value that passes between an int8 kernel and an operator in float.
struct Crossing
{
    ValueRef value;
    std::vector<NodeId> readers; ///< for which it is converted; may include the Output node
    bool toFloat = false; ///< true: dequantized, false: quantized for the readers
    /// Size of the value as float; an open dimension (usually the batch) counts as 1, an unknown
    /// shape as 0 bytes.
    std::int64_t bytes = 0;
};

/// A number of values and their total size.
struct MovedAmount
{
    std::int64_t values = 0, bytes = 0;
};

/// Values that are converted between int8 and float in a plan: integer results of kernels that a
/// float operator or the model's caller reads, and float values that are quantized for a kernel. A
/// value; holds neither graph nor plan.
class DataMovement
{
public:
    DataMovement(const Graph& graph, const Plan& plan);

    const std::vector<Crossing>& crossings() const { return m_crossings; } ///< in graph order
    MovedAmount whole() const;
    /// The movement that a float node causes: its operands that are dequantized, its results that
    /// are quantized. Nodes of one match cause it together.
    MovedAmount causedBy(const Plan& plan, const NodePlan& node) const;

private:
    void keep(Crossing crossing);

    std::vector<Crossing> m_crossings;
    std::unordered_map<NodeId, std::vector<std::size_t>> m_causedBy; ///< indices, each once
};

} // namespace qs
