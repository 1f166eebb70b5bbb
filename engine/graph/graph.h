// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/module_tree.h"
#include "engine/graph/node.h"

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace qs {

/// The weights and constants that stored nodes refer to by `Node::tensor`. Graphs made from a graph
/// share them. Read their content with `tensorsOf` (`execute/tensor_store.h`).
class StoredTensors
{
public:
    virtual ~StoredTensors() = default;
    /// Size of one; 0 for an unknown id.
    virtual std::uint64_t bytes(TensorId id) const = 0;
};

/// Facts of the file about the whole model, kept so that exports have the same inputs and outputs.
struct ModelInfo
{
    std::string path; ///< of the file it was read from
    std::string sha256; ///< of that file, hex
    std::string format; ///< "pt2", "torchscript", "text"
    std::string name; ///< root class or file stem
    std::string producer; ///< "torch 2.11.0+cu130"
    std::string inputTree; ///< pytree JSON of (args, kwargs); empty = flat tuple
    std::string outputTree; ///< pytree JSON of the return; empty = flat
    std::string exportRecord; ///< JSON text that the .pt2 writer restores (module_call_graph,
                              ///< range_constraints, ...)
    bool converted = false; ///< the file itself holds Q/DQ
    std::string edits; ///< hash of the edits; empty if the model is not edited
    bool trained = false; ///< an edit replaced its weights by trained ones
};

/// One use of a value: the consuming node and the index into its `args`.
struct Use
{
    NodeId node;
    std::uint32_t argument = 0;
    friend bool operator==(const Use&, const Use&) = default;
};

/// An immutable snapshot of a model: nodes in execution order (inputs, parameters and constants
/// first, the single Output last), its modules and where its tensors live. Built by a GraphEdit and
/// never changed afterwards, so any number of threads may read it without a lock. Copying shares
/// everything.
class Graph
{
public:
    struct Parts
    {
        std::vector<NodePtr> nodes;
        std::shared_ptr<const ModuleTree> modules;
        std::shared_ptr<StoredTensors> tensors;
        std::shared_ptr<const ModelInfo> info;
        std::uint32_t nextId = 1;
    };

    Graph();
    explicit Graph(Parts parts);
    /// Returns this graph with other facts about its file; shares nodes and index.
    Graph withInfo(ModelInfo info) const;

    std::span<const NodePtr> nodes() const { return m_parts.nodes; }
    /// Null if the graph has no node of that id.
    const Node* tryGet(NodeId id) const;
    /// The node must exist.
    const Node& get(NodeId id) const;
    const Node* tryFind(std::string_view name) const;
    /// Position of the node in `nodes()`; the node must exist.
    std::size_t position(NodeId id) const;
    const Value& value(ValueRef ref) const;
    /// Readers of a value in execution order, the Output node included; one entry per reading
    /// argument.
    std::span<const Use> users(ValueRef ref) const;
    /// Number of reads of all outputs of the node.
    std::size_t userCount(NodeId id) const;
    std::vector<const Node*> inputs() const;
    const Node& output() const;

    const ModuleTree& modules() const { return *m_parts.modules; }
    const std::shared_ptr<StoredTensors>& tensors() const { return m_parts.tensors; }
    const ModelInfo& info() const { return *m_parts.info; }
    const Parts& parts() const { return m_parts; }

private:
    struct Index;
    std::shared_ptr<const Index> m_index; ///< outlives the parts: it frees a large graph
    Parts m_parts;
};

/// Graph snapshots travel between threads and windows as this.
using GraphPtr = std::shared_ptr<const Graph>;

} // namespace qs
