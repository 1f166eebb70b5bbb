// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"
#include "engine/plan/reason/reason.h"

#include <optional>
#include <string>

namespace qs {

/// Why an operator's objects are not quantized, and the remedy.
struct WholeObjectReason
{
    Reason reason;
    std::string remedy;
};

/// For an operator on objects of a library's class if no loaded pack says which field of the class
/// is quantized, or if it takes several in a list. Empty for other operators: those on the fields
/// of objects, kernels and their prepacking, operators that get or replace the field.
std::optional<WholeObjectReason> whyObjectsStayFloat(const Graph& graph, const Node& node);

} // namespace qs
