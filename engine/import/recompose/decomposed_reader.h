// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/import/recompose/decomposed_calls.h"

namespace qs {

/// One decomposed call while it is read.
class DecomposedReader
{
public:
    DecomposedReader(const GraphEdit& edit, const DecomposedCall& call)
        : m_edit(edit)
        , m_call(call)
    {
    }

    /// The call's first operator of that name; null when it has none.
    const Node* find(std::string_view target) const;
    /// The operator of the call that makes this argument, where it has that name; else null.
    const Node* maker(const Argument* argument, std::string_view target) const;
    /// A value that comes from outside the call, as it is or through a view of the given kind.
    std::optional<ValueRef> from(const ValueRef* ref, std::string_view through = {}) const;
    /// A whole number at a place of a list argument; negative places count from the end.
    std::optional<std::int64_t> number(const Node& node, std::string_view argument,
                                       std::ptrdiff_t place) const;

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

/// The arguments of the operator that stands for the call; nothing where it is something else.
using DecomposedArgs = std::optional<std::vector<NamedArgument>>;

} // namespace qs
