// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observers/observer.h"
#include "engine/graph/graph.h"

#include <unordered_map>

namespace qs {

/// Avoids second observations: an observer on both sides of an operator which only reorders its
/// input's values or clamps them at constants (torch.ao shares one over reshape, permute, relu6,
/// hardtanh, clamp ...) derives the output's statistics from the input's. Results equal those of
/// observing both. Of one prepared graph, which must outlive it; one thread at a time.
class ObservationCache
{
public:
    explicit ObservationCache(const Graph& prepared);

    /// `observer.observe(x)` for the value of the observer node `node`.
    std::int64_t observe(Observer& observer, const Node& node, const at::Tensor& x);
    /// Clears unused observations; call between runs of the graph.
    void forget() { m_observations.clear(); }

private:
    struct Follows
    {
        const Node* of = nullptr; ///< the observer node of the operator's input
        Bounds bounds;
    };
    struct Observation
    {
        Observed found;
        int wanted = 0; ///< by this many observer nodes
    };
    // By address: nodes within subgraphs may have the same ids.
    std::unordered_map<const Node*, Follows> m_follows;
    std::unordered_map<const Node*, int> m_followers;
    std::unordered_map<const Node*, Observation> m_observations;
};

} // namespace qs
