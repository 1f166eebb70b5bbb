// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph_edit.h"
#include "engine/graph/match/pattern_match.h"
#include "engine/import/recompose/decomposed_calls.h"

namespace qs {

/// View of one decomposed call: patterns match only its operators.
class DecomposedReader final : public PatternView
{
public:
    DecomposedReader(const GraphEdit& edit, const DecomposedCall& call)
        : m_edit(edit)
        , m_call(call)
    {
    }

    /// Null for an operator outside the call.
    const Node* tryGet(NodeId id) const override;
    /// Returns the first match of the pattern in the call.
    std::optional<PatternMatch> find(const GraphPattern& pattern) const;
    /// Matches the pattern with the argument's producer as its last operator.
    std::optional<PatternMatch> behind(const Argument* argument, const GraphPattern& pattern) const;
    /// True for a value from outside the call.
    bool isOutside(const Argument* argument) const;

    const std::vector<Dim>& shape(ValueRef ref) const
    {
        return m_edit.get(ref.node).outputs.at(ref.index).type.shape;
    }
    std::size_t rank(ValueRef ref) const { return shape(ref).size(); }
    const GraphEdit& edit() const { return m_edit; }
    const DecomposedCall& call() const { return m_call; }

private:
    const GraphEdit& m_edit;
    const DecomposedCall& m_call;
};

} // namespace qs
