// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/plan.h"

namespace qs {

/// One operator that two plans of the same graph decide differently.
struct NodeChange
{
    std::size_t position = 0; ///< in Graph::nodes() and in both plans
    bool verdict = false; ///< another verdict, or quantized in one plan only
    /// Another qconfig in effect on an operator that matches a pattern; equal values under two
    /// names do not count.
    bool qconfig = false;
    bool pattern = false;
    friend bool operator==(const NodeChange&, const NodeChange&) = default;
};

/// The operators whose verdict, qconfig or pattern differs, in graph order. Both plans must be of
/// `graph`.
std::vector<NodeChange> comparePlans(const Graph& graph, const Plan& before, const Plan& after);

} // namespace qs
