// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/strong_id.h"

#include <chrono>
#include <map>
#include <vector>

namespace qs {

/// Time of one node in one run of its graph.
struct NodeTime
{
    NodeId node;
    double seconds = 0;
};

/// Sums the times of the nodes of one graph. The first run is a warm-up: it counts only if there is
/// no other run. One thread at a time.
class NodeTimes
{
public:
    using Clock = std::chrono::steady_clock;

    /// Call before each run over the whole graph.
    void beginRun();
    void add(NodeId node, Clock::duration took) { m_sums[node] += took; }
    /// The mean times per run, by id.
    std::vector<NodeTime> means() const;

    /// Adds its lifetime to a node's time; no cost if `times` is null.
    class Watch
    {
    public:
        Watch(NodeTimes* times, NodeId node)
            : m_times(times)
            , m_node(node)
            , m_start(times ? Clock::now() : Clock::time_point())
        {
        }
        ~Watch()
        {
            if (m_times)
                m_times->add(m_node, Clock::now() - m_start);
        }
        Watch(const Watch&) = delete;
        Watch& operator=(const Watch&) = delete;

    private:
        NodeTimes* m_times;
        NodeId m_node;
        Clock::time_point m_start;
    };

private:
    std::map<NodeId, Clock::duration> m_sums;
    int m_runs = 0;
};

} // namespace qs
