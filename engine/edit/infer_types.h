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

/// Tells the shapes and element types behind an edit, without running the model. A node's operator
/// runs alone on zeros of its operands' sizes: once with the sizes that were traced, once with
/// every open dimension larger, each by a factor of its own; what differs is open. Sizes that
/// depend on data are unknown. An operator whose pack says its results' shapes is not run.
/// For one thread and one draft.
class TypeInference
{
public:
    explicit TypeInference(GraphEdit& draft);

    /// Types of what the node, which need not be in the draft yet, would give. Empty where its
    /// operands are not known well enough. Errors: what its operator says to operands of these
    /// types; names the node.
    Result<std::vector<ValueType>> outputsOf(const Node& node) const;

    /// Tells anew what `changed` nodes give and all that follows; goes no further where a type
    /// stays as it was. Errors: an operator behind that cannot take what it would get.
    Result<void> spread(const std::unordered_set<NodeId>& changed, const JobContext& job);

    /// Looks whether every `aten.view` behind changed nodes can be: it cannot where the elements do
    /// not lie in order in memory (a copy was removed, say). Errors: the first that cannot.
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
