// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/execute/interpreter.h"

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace qs {

/// The nodes of a graph, in order, that must run to compute derivatives of outputs with respect to
/// sites. Steps are counted from 0. Borrows the graph. A value; any thread.
class GradientSteps
{
public:
    static constexpr std::size_t kNever = std::size_t(-1);

    /// `isConstant`: whether the value does not depend on inputs; its node runs only if it depends
    /// on a site.
    GradientSteps(const Graph& graph, std::span<const ValueRef> sites,
                  std::span<const ValueRef> outputs,
                  const std::function<bool(ValueRef)>& isConstant);

    std::size_t size() const { return m_nodes.size(); }
    const Node& node(std::size_t step) const { return *m_nodes[step]; }
    /// The step that makes the value; `kNever` if it exists before the first step.
    std::size_t madeAt(ValueRef ref) const { return find(m_madeAt, ref); }
    /// The steps that read it first and last; `kNever` without a reader.
    std::size_t firstRead(ValueRef ref) const { return find(m_firstRead, ref); }
    std::size_t lastRead(ValueRef ref) const { return find(m_lastRead, ref); }
    /// Whether the value is a site or depends on one; only for these derivatives are recorded.
    bool carries(ValueRef ref) const { return m_carriers.contains(ref); }
    /// Whether the step reads a value that `carries`.
    bool isRecorded(std::size_t step) const { return m_recorded[step]; }
    /// Whether an output depends on the value.
    bool reachesOutput(ValueRef ref) const { return m_reaching.contains(ref); }
    bool isSite(ValueRef ref) const { return m_sites.contains(ref); }
    bool isOutput(ValueRef ref) const { return m_outputs.contains(ref); }
    /// Whether a site's node reads it.
    bool isReadBySite(ValueRef ref) const { return m_readBySites.contains(ref); }

    /// Values that no step after this one reads.
    std::span<const ValueRef> deadAfter(std::size_t step) const { return m_dead[step]; }
    /// Values that a step before `boundary` makes and one at or after it reads.
    std::vector<ValueRef> liveAt(std::size_t boundary) const;
    /// The values that a step reads, each once.
    std::vector<ValueRef> reads(std::size_t step) const;

private:
    static std::size_t find(const std::unordered_map<ValueRef, std::size_t>& map, ValueRef ref)
    {
        const auto it = map.find(ref);
        return it == map.end() ? kNever : it->second;
    }
    void chooseNodes(const Graph& graph, const std::function<bool(ValueRef)>& isConstant);
    void follow();

    std::vector<const Node*> m_nodes;
    std::unordered_set<ValueRef> m_sites, m_outputs, m_carriers, m_reaching, m_readBySites;
    std::unordered_map<ValueRef, std::size_t> m_madeAt, m_firstRead, m_lastRead;
    std::vector<std::vector<ValueRef>> m_dead;
    std::vector<bool> m_recorded;
};

} // namespace qs
