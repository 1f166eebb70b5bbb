// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observers/observer.h"
#include "engine/graph/graph.h"

#include <unordered_map>

namespace qs {

/// Avoids redundant observations. If an observer is on both sides of an operator that only reorders
/// values or clamps them to constants (torch.ao shares one over reshape, permute, relu6, hardtanh,
/// clamp ...), derives the output's statistics from the input's. Results equal those of observing
/// both. Belongs to one prepared graph, which must outlive it. One thread at a time.
class ObservationCache
{
public:
    explicit ObservationCache(const Graph& prepared);

    /// Equivalent to `observer.observe(x)` for the value of the observer node `node`.
    std::int64_t observe(Observer& observer, const Node& node, const at::Tensor& x);
    /// Clears unused observations; call between runs of the graph.
    void forget() { m_observations.clear(); }

private:
    struct Follows
    {
        const Node* of = nullptr; ///< observer node of the operator's input
        Bounds bounds;
    };
    struct Observation
    {
        Observed found;
        int wanted = 0; ///< number of observer nodes that still need it
    };
    // Keyed by address, because nodes in subgraphs may have equal ids.
    std::unordered_map<const Node*, Follows> m_follows;
    std::unordered_map<const Node*, int> m_followers;
    std::unordered_map<const Node*, Observation> m_observations;
};

} // namespace qs
