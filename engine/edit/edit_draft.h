// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/configure/edit_step.h"
#include "engine/edit/addresses.h"
#include "engine/graph/graph_edit.h"

#include <optional>
#include <string_view>
#include <vector>

namespace qs {

/// A draft of a model's graph with the operations of edits: addresses, uses of values, node order,
/// type inference after a change. Discard the draft if the edit fails. One thread.
class EditDraft
{
public:
    EditDraft(GraphPtr model, Addresses& addresses, const JobContext& job);

    /// One use of a value: argument of a node, and item of a list argument or -1.
    struct Place
    {
        NodeId node;
        std::size_t argument = 0;
        int item = -1;
    };

    GraphEdit& graph() { return m_graph; }
    /// Inputs that replace values of the graph before this edit, paired with these values.
    std::vector<std::pair<NodeId, ValueRef>>& fed() { return m_fed; }
    /// The graph before this edit.
    const GraphPtr& before() const { return m_model; }
    Addresses& addresses() { return m_addresses; }
    const JobContext& job() const { return m_job; }

    /// Returns the snapshot after `verifyGraph`.
    Result<Graph> build() const;

    /// Fails if the node is missing, or an earlier edit removed it.
    Result<NodeId> node(const ValueAddress& address) const;
    /// The same for operators only.
    Result<NodeId> operatorAt(const ValueAddress& address) const;
    /// `subject`: the value of "this".
    Result<ValueRef> value(const ValueAddress& address, std::optional<ValueRef> subject = {}) const;
    Result<Place> place(const ReaderAddress& reader) const;
    /// Returns all uses of the value.
    std::vector<Place> placesOf(ValueRef value) const;
    /// Fails if one of the readers does not read the value.
    Result<std::vector<Place>> placesFor(const std::vector<ReaderAddress>& readers,
                                         ValueRef value) const;
    /// Returns the value read at a place; invalid for a literal.
    ValueRef readAt(const Place& place) const;
    void put(const Place& place, ValueRef value);
    /// Moves the node's operands before it. Fails if an operand depends on the node.
    Result<void> putInOrder(NodeId id);
    /// Return the scope for a new operator next to this node, or around this scope: outside any
    /// layer of torch.nn.
    Scope scopeAround(NodeId id) const;
    Scope outerScope(const Scope& scope) const;
    /// Adds the node before another, with outputs inferred from its operator. Fails with the
    /// operator's error.
    Result<NodeId> add(Node node, NodeId before);
    /// Infers the types after changed nodes again.
    Result<void> spread(const std::vector<NodeId>& changed);

private:
    GraphPtr m_model;
    Addresses& m_addresses;
    const JobContext& m_job;
    GraphEdit m_graph;
    std::vector<std::pair<NodeId, ValueRef>> m_fed;
};

/// Returns the node's arguments; positional ones get their schema names.
std::vector<NamedArgument> namedArguments(const Node& node);
/// Returns the index of the argument of that name if it is a value of the graph.
std::optional<std::size_t> valueNamed(const std::vector<NamedArgument>& arguments,
                                      std::string_view name);
/// Returns the error of a rejected edit.
tl::unexpected<Error> refuse(const std::string& why, std::string hint = {});

} // namespace qs
