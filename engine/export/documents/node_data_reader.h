// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// A colour of a scale with its position.
struct ColourStop
{
    double at = 0; ///< gradient: 0 to 1; threshold: the highest value it includes
    std::string colour; ///< as written in the file, for example "#d55e00" or "orange"
    std::string label; ///< may be empty
    friend bool operator==(const ColourStop&, const ColourStop&) = default;
};

/// The file's entry for one node.
struct ImportedValue
{
    NodeId node;
    std::optional<double> value;
    std::string text; ///< the value if it is text, else empty
    std::string colour; ///< set in the file for this node, or empty
    friend bool operator==(const ImportedValue&, const ImportedValue&) = default;
};

/// Numbers, texts or colours for the nodes of a model, usually from another program. A value; share
/// it as NodeDataPtr.
struct NodeData
{
    std::string name; ///< name in the data, else the file's name without extension
    std::vector<ImportedValue> values; ///< by node id
    std::vector<ColourStop> thresholds; ///< ascending; the first not below a value applies
    std::vector<ColourStop> gradient; ///< ascending from 0 to 1, over `min` to `max`
    double min = 0, max = 0; ///< of the file's numbers, unmatched ones included
    std::size_t unmatched = 0; ///< number of results that match no node of the model
    std::string firstUnmatched; ///< key of the first of them

    /// The entry of a node, owned by this object; null if it has none.
    const ImportedValue* tryGet(NodeId node) const;
};
using NodeDataPtr = std::shared_ptr<const NodeData>;

/// Reads Model Explorer's node data (also written by `nodeDataJson`): `results` of one graph, or of
/// several graphs by id, of which it takes the one with the most matching nodes. A result matches a
/// node by the node's name or by the name of one of its values. Fails (BadInput, naming the file
/// and the place) if the file has another layout or no result matches a node.
Result<NodeDataPtr> readNodeData(const std::string& path, const Graph& model);

} // namespace qs
