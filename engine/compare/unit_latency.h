// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/compare/comparison.h"
#include "engine/convert/converted_model.h"

#include <optional>
#include <span>
#include <vector>

namespace qs {

/// How long a batch takes in one unit of the float model: a fusion, or an operator on its own.
/// Seconds; empty where nothing of the kind ran or was timed.
struct UnitLatency
{
    NodeId node; ///< `unitEnd`; none for nodes of the lowered form without a float node
    std::optional<double> floatSeconds {};
    std::optional<double> int8Seconds {}; ///< its nodes in the lowered form, less conversions
    /// Quantize and dequantize nodes of the lowered form; each counts at the unit whose value it
    /// converts.
    std::optional<double> conversionSeconds {};

    /// All nodes of the lowered form.
    std::optional<double> convertedSeconds() const;
};

/// Adds up the times of nodes by unit, in the order of ids. Every time that belongs to a node of
/// its graph is counted once. `converted`: with forms on the model's own inputs
/// (`onModelInputs`).
std::vector<UnitLatency> unitLatencies(const ConvertedModel& converted,
                                       std::span<const NodeTime> floatTimes,
                                       std::span<const NodeTime> loweredTimes);

/// The sum over the units; of no node.
UnitLatency wholeLatency(std::span<const UnitLatency> units);

} // namespace qs
