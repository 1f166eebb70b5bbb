// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/gradients/gradient_steps.h"

#include <algorithm>

namespace qs {

namespace {

void forEachRead(const Node& node, const std::function<void(ValueRef)>& visit)
{
    for (const NamedArgument& arg : node.args)
        forEachRef(arg.value, visit);
}

bool readsOne(const Node& node, const std::unordered_set<ValueRef>& values)
{
    bool found = false;
    forEachRead(node, [&](ValueRef ref) { found = found || values.contains(ref); });
    return found;
}

void addOutputs(const Node& node, std::unordered_set<ValueRef>& values)
{
    for (std::uint32_t i = 0; i < node.outputs.size(); ++i)
        values.insert({node.id, i});
}

} // namespace

GradientSteps::GradientSteps(const Graph& graph, std::span<const ValueRef> sites,
                             std::span<const ValueRef> outputs,
                             const std::function<bool(ValueRef)>& isConstant)
    : m_sites(sites.begin(), sites.end())
    , m_outputs(outputs.begin(), outputs.end())
{
    chooseNodes(graph, isConstant);
    follow();
}

void GradientSteps::chooseNodes(const Graph& graph, const std::function<bool(ValueRef)>& isConstant)
{
    m_carriers = m_sites;
    for (const NodePtr& node : graph.nodes())
        if (node->isOperator() && readsOne(*node, m_carriers))
            addOutputs(*node, m_carriers);
    std::unordered_set<ValueRef> needed(m_sites);
    needed.insert(m_outputs.begin(), m_outputs.end());
    m_reaching = m_outputs;
    const auto nodes = graph.nodes();
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
        const Node& node = **it;
        bool isNeeded = false, reaches = false, afterSite = readsOne(node, m_carriers);
        for (std::uint32_t i = 0; i < node.outputs.size(); ++i) {
            const ValueRef ref {node.id, i};
            isNeeded = isNeeded || needed.contains(ref);
            reaches = reaches || m_reaching.contains(ref);
        }
        const bool runs = node.isOperator() && isNeeded && (afterSite || !isConstant({node.id, 0}));
        if (!runs)
            continue;
        m_nodes.push_back(&node);
        forEachRead(node, [&](ValueRef ref) {
            needed.insert(ref);
            if (reaches)
                m_reaching.insert(ref);
        });
    }
    std::reverse(m_nodes.begin(), m_nodes.end());
}

void GradientSteps::follow()
{
    for (std::size_t step = 0; step < m_nodes.size(); ++step) {
        const Node& node = *m_nodes[step];
        m_recorded.push_back(readsOne(node, m_carriers));
        bool makesSite = false;
        for (std::uint32_t i = 0; i < node.outputs.size(); ++i) {
            m_madeAt[{node.id, i}] = step;
            makesSite = makesSite || isSite({node.id, i});
        }
        forEachRead(node, [&](ValueRef ref) {
            m_firstRead.emplace(ref, step);
            m_lastRead[ref] = step;
            if (makesSite)
                m_readBySites.insert(ref);
        });
    }
    m_dead.resize(m_nodes.size());
    for (const auto& [ref, step] : m_madeAt)
        m_dead[m_lastRead.contains(ref) ? m_lastRead.at(ref) : step].push_back(ref);
}

std::vector<ValueRef> GradientSteps::liveAt(std::size_t boundary) const
{
    std::vector<ValueRef> live;
    for (const auto& [ref, made] : m_madeAt)
        if (const std::size_t last = lastRead(ref);
            made < boundary && last != kNever && last >= boundary)
            live.push_back(ref);
    std::sort(live.begin(), live.end());
    return live;
}

std::vector<ValueRef> GradientSteps::reads(std::size_t step) const
{
    std::vector<ValueRef> found;
    forEachRead(*m_nodes[step], [&](ValueRef ref) {
        if (std::find(found.begin(), found.end(), ref) == found.end())
            found.push_back(ref);
    });
    return found;
}

} // namespace qs
