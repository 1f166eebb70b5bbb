// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/convert/converted_model.h"

#include <vector>

namespace qs {

/// An activation that a unit reads.
struct UnitInput
{
    ValueRef value; ///< x: in the float graph
    /// x^: in the reference graph. For a value that a unit produces: its y^. A quantizer between
    /// y^ and the read value belongs to the reader, and so does its loss.
    ValueRef came;
    ValueRef read; ///< the value that the unit's counterpart in the reference graph reads
    ValueRef raw; ///< the same value of the reference graph before its quantize-dequantize pair
};

/// A floating-point value that a unit makes.
struct UnitOutput
{
    ValueRef value; ///< y: in the float graph
    /// y^: in the reference graph; after the quantize-dequantize pair of a quantized unit, before
    /// the pair of the readers of a float unit, whose loss belongs to the readers.
    ValueRef reference;
};

/// The unit of error terms: a fusion as a whole, or a single operator.
struct CompareUnit
{
    NodeId last; ///< the float node at which the figures are reported
    std::vector<NodeId> members; ///< in graph order
    bool quantized = false;
    /// The reference graph quantizes nothing from the inputs to the results: nothing is lost here,
    /// so y^ = f(x^) and f_q(x) = y without computing them.
    bool unchanged = false;
    /// An edit of the reference form made its results depend on more than the inputs below: only
    /// the cumulative error is measured.
    bool isOpen = false;
    std::vector<UnitInput> inputs;
    std::vector<UnitOutput> outputs;
};

/// The units of a converted model, in the order of their last members. Operators without a
/// floating-point result, or without a value in the reference graph, belong to no unit.
std::vector<CompareUnit> compareUnits(const ConvertedModel& converted);

} // namespace qs
