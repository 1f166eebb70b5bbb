// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/node_measures.h"

#include <algorithm>
#include <unordered_set>

namespace qs {

namespace {

/// Returns the bytes of a tensor; nothing if its size is unknown or the value is not a tensor.
std::optional<double> valueBytes(const ValueType& type)
{
    if (type.kind != ValueKind::Tensor || !type.shapeKnown)
        return {};
    double bytes = dtypeSize(type.dtype);
    for (const auto& dim : type.shape)
        bytes *= double(dim.size);
    return bytes > 0 ? std::optional(bytes) : std::nullopt;
}

std::optional<double> madeBytes(const Node& node)
{
    std::optional<double> sum;
    for (const auto& value : node.outputs)
        if (const auto bytes = valueBytes(value.type))
            sum = sum.value_or(0) + *bytes;
    return sum;
}

/// Sums the bytes of stored values, each once.
class HeldBytes
{
public:
    HeldBytes(const Graph& graph, const FoldTree& tree)
        : m_graph(graph)
        , m_tree(tree)
    {
    }

    void addReadBy(const Node& node)
    {
        for (const auto& arg : node.args)
            forEachRef(arg.value, [this](ValueRef ref) {
                if (m_tree.unitOf(ref.node) >= 0 || !m_seen.insert(ref.node).second)
                    return;
                // A packed weight has no size: count the weight that it was packed from.
                if (const auto bytes = valueBytes(m_graph.value(ref).type))
                    m_sum += *bytes;
                else
                    addReadBy(m_graph.get(ref.node));
            });
    }

    double sum() const { return m_sum; }

private:
    const Graph& m_graph;
    const FoldTree& m_tree;
    std::unordered_set<NodeId> m_seen;
    double m_sum = 0;
};

} // namespace

std::optional<double> memoryOf(const Graph& graph, const FoldTree& tree, const FoldEntry& entry,
                               std::span<const NodeId> nodes)
{
    std::optional<double> made;
    HeldBytes held(graph, tree);
    for (const NodeId id : nodes) {
        const Node& node = graph.get(id);
        held.addReadBy(node);
        if (!entry.isModule() && id != nodes.back())
            continue;
        if (const auto bytes = madeBytes(node))
            made = std::max(made.value_or(0), *bytes);
    }
    return made || held.sum() > 0 ? std::optional(made.value_or(0) + held.sum()) : std::nullopt;
}

} // namespace qs
