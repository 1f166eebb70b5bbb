// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"
#include "engine/graph/operators/operator_name.h"

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace qs {

/// The path that two dotted paths begin with.
std::string commonPath(const std::string& a, const std::string& b);
/// Digits only.
bool isNumber(const std::string& text);

/// Titles of nodes wherever a user reads of them: the module's path, then the operator. Titles of
/// one graph are unique. Borrows the graph; walks over it once.
class NodeTitles
{
public:
    explicit NodeTitles(const Graph& graph);

    /// "layer1.0.conv1 · conv2d", "layer1.0 · add 2" for the second of its kind there; outside any
    /// module the operator with the node's name: "flatten", "mul · scaled". Inputs, outputs and
    /// stored nodes have their own names.
    std::string of(const Node& node) const;
    /// Of operators that are fused into one: "layer1.0.conv1 + bn1 + relu" if the first is a whole
    /// module, else "features.0 · conv2d + batch_norm".
    std::string of(std::span<const NodeId> members) const;

private:
    /// "conv2d", "add 2".
    std::string operatorText(const Node& node) const;
    std::string partText(const Node& node, const std::string& common) const;

    const Graph& m_graph;
    std::unordered_map<NodeId, int>
        m_place; ///< among operators that are called alike, from the second
};

/// The same of one node. Walks over the graph: for lists build `NodeTitles` once.
std::string nodeTitle(const Graph& graph, NodeId node);

} // namespace qs
