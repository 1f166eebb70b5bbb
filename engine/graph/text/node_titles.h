// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"
#include "engine/graph/operators/operator_name.h"

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace qs {

/// Returns the common ancestor of two dotted paths.
std::string commonPath(const std::string& a, const std::string& b);
/// True if the text consists of digits only.
bool isNumber(const std::string& text);

/// Titles of nodes shown to users: the module's path, then the operator. Unique within a graph.
/// Borrows the graph; traverses it once.
class NodeTitles
{
public:
    explicit NodeTitles(const Graph& graph);

    /// "layer1.0.conv1 · conv2d", "layer1.0 · add 2" for the second of its kind there; outside any
    /// module the operator with the node's name: "flatten", "mul · scaled". Inputs, outputs and
    /// stored nodes have their own names.
    std::string of(const Node& node) const;
    /// Title of operators that are fused into one: "layer1.0.conv1 + bn1 + relu" if the first is a
    /// whole module, else "features.0 · conv2d + batch_norm".
    std::string of(std::span<const NodeId> members) const;

private:
    /// "conv2d", "add 2".
    std::string operatorText(const Node& node) const;
    std::string partText(const Node& node, const std::string& common) const;

    const Graph& m_graph;
    std::unordered_map<NodeId, int>
        m_place; ///< ordinal among operators with equal titles, from the second on
};

/// Returns the title of one node. Traverses the graph: for many nodes build `NodeTitles` once.
std::string nodeTitle(const Graph& graph, NodeId node);

} // namespace qs
