// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/graph/graph_edit.h"

#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace qs {

/// Infers the shapes and element types after an edit without running the model. A node's operator
/// runs alone on zeros of its operands' sizes: once with the traced sizes, once with every open
/// dimension scaled by a distinct factor; sizes that differ are open. Sizes that depend on data are
/// unknown. An operator whose pack says its results' shapes is not run. For one thread and one
/// draft.
class TypeInference
{
public:
    explicit TypeInference(GraphEdit& draft);

    /// Types of the results of the node, which need not be in the draft yet. Empty if too little is
    /// known of its operands. Errors: its operator fails on operands of these types; names the
    /// node.
    Result<std::vector<ValueType>> outputsOf(const Node& node) const;

    /// Infers the types of the `changed` nodes and of all later nodes again; stops where a type
    /// stays the same. Errors: a later operator that cannot take its new operands.
    Result<void> spread(const std::unordered_set<NodeId>& changed, const JobContext& job);

    /// Checks that every `aten.view` after changed nodes is possible: it is not if the elements are
    /// not in order in memory (a copy was removed, say). Errors: the first that is not.
    Result<void> checkViews(const std::unordered_set<NodeId>& changed) const;

    /// The shape at these sizes of the open dimensions; nothing where it is not known.
    static std::optional<std::vector<std::int64_t>>
    shapeOf(const ValueType& type, const std::map<std::string, std::int64_t>& sizes);

private:
    struct Symbol
    {
        std::int64_t hint = 0, larger = 0;
        std::string expression; ///< as the file spells it
    };
    /// The sizes of the open dimensions in one of the two rounds.
    std::map<std::string, std::int64_t> sizes(bool larger) const;
    Dim productOf(std::int64_t size, std::int64_t other) const;
    Dim dimOf(std::int64_t size, std::int64_t other, const Node& node, std::size_t axis) const;

    GraphEdit& m_draft;
    std::map<std::string, Symbol> m_symbols;
};

} // namespace qs
