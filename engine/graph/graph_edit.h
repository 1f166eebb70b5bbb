// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <list>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace qs {

/// A draft of a graph; graphs are made and changed only through it. Copies the node vector, and
/// each node on first change. Thread: one, until `build()`. Makes duplicate names unique as FX does
/// ("relu", "relu_1").
class GraphEdit
{
public:
    /// An empty draft with its own module tree.
    GraphEdit();
    explicit GraphEdit(const Graph& graph);

    /// Appends before the Output node, or before `before` when given. Sets the node's id (kept if
    /// already set and free) and makes its name and its outputs' names unique; an output without a
    /// name takes the node's. Returns the id.
    NodeId insert(Node node, NodeId before = {});
    /// Inserts right after `after`.
    NodeId insertAfter(Node node, NodeId after);
    /// Returns the node for modification; the first call makes a private copy. Do not change the
    /// id, the name (use `rename`) or the arguments (use `setArgs`, `replaceArgument`).
    Node& change(NodeId id);
    void setArgs(NodeId id, std::vector<NamedArgument> args);
    const Node& get(NodeId id) const;
    const Node* tryGet(NodeId id) const;
    bool contains(NodeId id) const { return tryGet(id) != nullptr; }
    /// Points every reader of `from` at `to`, except the readers in `except`.
    void replaceUses(ValueRef from, ValueRef to, const std::unordered_set<NodeId>& except = {});
    /// Points one argument of `user` (every occurrence inside argument `argument`) from `from` to
    /// `to`.
    void replaceArgument(NodeId user, std::size_t argument, ValueRef from, ValueRef to);
    /// Removes a node; its outputs must have no consumers.
    void erase(NodeId id);
    /// Moves the node to just before another.
    void moveBefore(NodeId id, NodeId before);
    /// Renames the node to a unique name based on `name`; a single output is renamed with it.
    void rename(NodeId id, const std::string& name);
    std::vector<Use> users(ValueRef ref) const;
    /// Ids in order.
    std::vector<NodeId> order() const;
    /// Removes nodes without consumers, repeatedly. Keeps inputs, the Output, nodes with an effect
    /// (state updates, raising) and the holders of updated state.
    void eraseDead();

    ModuleTree& modules();
    void setInfo(ModelInfo info);
    void setTensors(std::shared_ptr<StoredTensors> tensors);
    const std::shared_ptr<StoredTensors>& tensors() const { return m_tensors; }
    std::string uniqueName(const std::string& wanted);

    /// The snapshot. The draft stays usable.
    Graph build() const;

private:
    struct Slot
    {
        NodePtr node;
        bool own = false;
    };
    using Order = std::list<NodeId>;

    NodeId place(Node node, Order::iterator where);
    void link(const Node& node);
    void unlink(const Node& node);

    Order m_order;
    std::unordered_map<NodeId, Order::iterator> m_where;
    std::unordered_map<NodeId, Slot> m_nodes;
    std::unordered_map<ValueRef, std::vector<NodeId>> m_readers;
    std::unordered_set<std::string> m_names;
    std::unordered_map<std::string, int> m_suffix;
    std::shared_ptr<ModuleTree> m_modules;
    bool m_modulesShared = false;
    std::shared_ptr<StoredTensors> m_tensors;
    std::shared_ptr<const ModelInfo> m_info;
    std::uint32_t m_nextId = 1;
};

} // namespace qs
