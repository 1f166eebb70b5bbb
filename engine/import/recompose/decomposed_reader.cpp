// SPDX-License-Identifier: Apache-2.0
#include "engine/import/recompose/decomposed_reader.h"

#include <algorithm>

namespace qs {

const Node* DecomposedReader::find(std::string_view target) const
{
    for (const NodeId id : m_call.nodes)
        if (m_edit.get(id).target == target)
            return &m_edit.get(id);
    return nullptr;
}

const Node* DecomposedReader::maker(const Argument* argument, std::string_view target) const
{
    const ValueRef* ref = argument ? argument->asRef() : nullptr;
    const auto& nodes = m_call.nodes;
    if (!ref || std::find(nodes.begin(), nodes.end(), ref->node) == nodes.end())
        return nullptr;
    const Node& node = m_edit.get(ref->node);
    return node.target == target ? &node : nullptr;
}

std::optional<ValueRef> DecomposedReader::from(const ValueRef* ref, std::string_view through) const
{
    if (!ref)
        return std::nullopt;
    const auto& reads = m_call.reads;
    if (std::find(reads.begin(), reads.end(), *ref) != reads.end())
        return *ref;
    const Node* maker = m_edit.tryGet(ref->node);
    if (through.empty() || !maker || maker->target != through || maker->args.empty())
        return std::nullopt;
    return from(maker->args[0].value.asRef());
}

std::optional<std::int64_t> DecomposedReader::number(const Node& node, std::string_view argument,
                                                     std::ptrdiff_t place) const
{
    const Argument* found = node.tryArg(argument);
    const auto* list = found ? found->asList() : nullptr;
    const auto size = list ? std::ptrdiff_t(list->size()) : 0;
    const std::ptrdiff_t at = place < 0 ? size + place : place;
    if (at < 0 || at >= size || !(*list)[std::size_t(at)].asInt())
        return std::nullopt;
    return *(*list)[std::size_t(at)].asInt();
}

} // namespace qs
