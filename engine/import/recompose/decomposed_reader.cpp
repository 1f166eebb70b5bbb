// SPDX-License-Identifier: Apache-2.0
#include "engine/import/recompose/decomposed_reader.h"

#include <algorithm>

namespace qs {

const Node* DecomposedReader::tryGet(NodeId id) const
{
    const auto& nodes = m_call.nodes;
    return std::find(nodes.begin(), nodes.end(), id) == nodes.end() ? nullptr : &m_edit.get(id);
}

std::optional<PatternMatch> DecomposedReader::find(const GraphPattern& pattern) const
{
    for (const NodeId id : m_call.nodes)
        if (auto found = matchPattern(*this, pattern, id))
            return found;
    return std::nullopt;
}

std::optional<PatternMatch> DecomposedReader::behind(const Argument* argument,
                                                     const GraphPattern& pattern) const
{
    const ValueRef* ref = argument ? argument->asRef() : nullptr;
    return ref ? matchPattern(*this, pattern, ref->node) : std::nullopt;
}

bool DecomposedReader::isOutside(const Argument* argument) const
{
    const ValueRef* ref = argument ? argument->asRef() : nullptr;
    return ref && std::find(m_call.reads.begin(), m_call.reads.end(), *ref) != m_call.reads.end();
}

} // namespace qs
