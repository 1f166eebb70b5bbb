// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"
#include "engine/plan/reason/reason.h"

#include <optional>
#include <string>

namespace qs {

/// Why an operator's objects are not quantized, and what to do about it.
struct KeptWhole
{
    Reason reason;
    std::string remedy;
};

/// For an operator that takes or gives objects of a library's class where no loaded pack says which
/// field of the class is quantized, or where it takes several in a list. Nothing for any other: one
/// that works by parts, kernels and what packs for them, what gets the field or replaces it.
std::optional<KeptWhole> whyObjectsStayFloat(const Graph& graph, const Node& node);

} // namespace qs
