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

/// Infers shapes and element types after an edit without running the model. Runs a node's operator
/// on zeros with its operands' sizes: once with the traced sizes, once with every symbolic
/// dimension scaled by a distinct factor. Sizes that differ are symbolic. Data-dependent sizes are
/// unknown. Does not run operators for which a pack computes the result shapes. One thread, one
/// draft.
class TypeInference
{
public:
    explicit TypeInference(GraphEdit& draft);

    /// Returns the result types of the node, which need not be in the draft. Empty if too little is
    /// known of its operands. Fails, naming the node, if its operator rejects operands of these
    /// types.
    Result<std::vector<ValueType>> outputsOf(const Node& node) const;

    /// Infers the types of the `changed` nodes and of their dependents again; stops where a type
    /// does not change. Fails if a dependent operator rejects its new operands.
    Result<void> spread(const std::unordered_set<NodeId>& changed, const JobContext& job);

    /// Fails with the first `aten.view` after changed nodes that is impossible because of its
    /// operand's strides (for example after a copy was removed).
    Result<void> checkViews(const std::unordered_set<NodeId>& changed) const;

    /// Returns the shape at these sizes of the symbolic dimensions; nullopt if unknown.
    static std::optional<std::vector<std::int64_t>>
    shapeOf(const ValueType& type, const std::map<std::string, std::int64_t>& sizes);

private:
    struct Symbol
    {
        std::int64_t hint = 0, larger = 0;
        std::string expression; ///< the file's text
    };
    /// Returns the sizes of the symbolic dimensions in one of the two runs.
    std::map<std::string, std::int64_t> sizes(bool larger) const;
    Dim productOf(std::int64_t size, std::int64_t other) const;
    Dim dimOf(std::int64_t size, std::int64_t other, const Node& node, std::size_t axis) const;

    GraphEdit& m_draft;
    std::map<std::string, Symbol> m_symbols;
};

} // namespace qs
