// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// A colour of a scale and where it stands: a share from 0 to 1 of a gradient, or the highest value
/// that a threshold takes in.
struct ColourStop
{
    double at = 0;
    std::string colour; ///< as the file spells it: "#d55e00", "orange"
    std::string label; ///< may be empty
    friend bool operator==(const ColourStop&, const ColourStop&) = default;
};

/// What the file says of one node.
struct ImportedValue
{
    NodeId node;
    std::optional<double> value;
    std::string text; ///< where the value is text
    std::string colour; ///< the file's own for this node, or empty
    friend bool operator==(const ImportedValue&, const ImportedValue&) = default;
};

/// Numbers, words or colours for the nodes of a model, made by another program. A value; share as
/// NodeDataPtr.
struct NodeData
{
    std::string name; ///< what the data call themselves, else the file's name
    std::vector<ImportedValue> values; ///< by node id
    std::vector<ColourStop> thresholds; ///< rising; a value takes the first that is not below it
    std::vector<ColourStop> gradient; ///< rising from 0 to 1, over the range of the file's numbers
    double min = 0, max = 0; ///< of the file's numbers
    std::size_t unmatched = 0; ///< results whose node the model does not have
    std::string firstUnmatched;

    const ImportedValue* tryGet(NodeId node) const;
};
using NodeDataPtr = std::shared_ptr<const NodeData>;

/// Reads Model Explorer's node data, ours included: one graph's `results`, or several graphs' by
/// their ids, of which the one that fits the model best is taken. Results are matched by the node's
/// name or by the name of a value that it makes. Errors (BadInput) name the file and the place; a
/// file that fits no node is one.
Result<NodeDataPtr> readNodeData(const std::string& path, const Graph& model);

} // namespace qs
