// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph_edit.h"
#include "engine/graph/match/pattern_match.h"
#include "engine/import/recompose/decomposed_calls.h"

namespace qs {

/// One decomposed call while it is read: patterns see its operators alone.
class DecomposedReader final : public PatternView
{
public:
    DecomposedReader(const GraphEdit& edit, const DecomposedCall& call)
        : m_edit(edit)
        , m_call(call)
    {
    }

    /// Null for an operator that is not of the call.
    const Node* tryGet(NodeId id) const override;
    /// Where the pattern first fits in the call.
    std::optional<PatternMatch> find(const GraphPattern& pattern) const;
    /// The pattern, ended by the operator that makes the argument.
    std::optional<PatternMatch> behind(const Argument* argument, const GraphPattern& pattern) const;
    /// Whether it is a value that comes from outside the call.
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
