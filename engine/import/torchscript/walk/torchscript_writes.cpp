// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/walk/torchscript_writes.h"

#include "engine/import/functionalize/alias_analysis.h"

#include <algorithm>
#include <set>

namespace qs {

namespace {

constexpr const char* kSeenTwice
    = "changes a tensor in place that has an alias outside its body, which is not supported; use "
      "the operator without the underscore";

/// True if a tensor is read under an earlier name after a branch or loop, or with `orKept` is a
/// buffer.
bool isReadBehind(const Graph& graph, ValueRef tensor, NodeId control, bool orKept)
{
    const std::size_t here = graph.position(control);
    const AliasSets before(graph, here);
    const auto& members = before.members(tensor);
    return std::any_of(members.begin(), members.end(), [&](ValueRef member) {
        const auto users = graph.users(member);
        return (orKept && graph.get(member.node).isBuffer)
            || std::any_of(users.begin(), users.end(), [&](const Use& use) {
                   const Node& user = graph.get(use.node);
                   const Argument* source = user.tryArg("src");
                   // Copies the branch's or loop's result back into a tensor.
                   const bool isWriteBack = source && user.isOp("aten.copy_.default")
                       && source->asRef() && source->asRef()->node == control;
                   return graph.position(use.node) > here && !isWriteBack;
               });
    });
}

} // namespace

std::vector<std::size_t> ScriptBodyWrites::writtenInputs(const Graph& body)
{
    if (!hasWrites(body))
        return {};
    std::set<ValueRef> touched;
    forEachWrite(body, [&](const Node&, const std::vector<ValueRef>& changed) {
        touched.insert(changed.begin(), changed.end());
    });
    std::vector<std::size_t> found;
    const auto inputs = body.inputs();
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (touched.contains({inputs[i]->id, 0}))
            found.push_back(i);
    return found;
}

Result<void> ScriptBodyWrites::checkNames(const JitNode& node, const std::vector<ValueRef>& written,
                                          const std::vector<ValueRef>& operands) const
{
    if (written.empty())
        return {};
    const Graph around = m_emitter.scope().edit().build();
    const AliasSets aliases(around);
    for (const ValueRef& target : written)
        for (const ValueRef& member : aliases.members(target))
            if (std::count(operands.begin(), operands.end(), member) > (member == target ? 1 : 0))
                return fail(m_emitter.unsupported(node, kSeenTwice));
    return {};
}

Result<void> ScriptBodyWrites::checkNextRound(const JitNode& node, const Graph& body,
                                              const Argument& handedOn, ValueRef leaf) const
{
    const auto* next = handedOn.asRef();
    if (!next)
        return {};
    const AliasSets aliases(body);
    for (const ValueRef& member : aliases.members(*next))
        if (member != leaf && body.get(member.node).kind == NodeKind::Input)
            return fail(m_emitter.unsupported(node, kSeenTwice));
    return {};
}

ScriptBodyWrites::Written ScriptBodyWrites::writesOf(const Graph& body,
                                                     const std::vector<Argument>& leaves)
{
    Written writes {writtenInputs(body), {}};
    if (writes.inputs.empty())
        return writes;
    const AliasSets aliases(body);
    const auto inputs = body.inputs();
    for (const std::size_t input : writes.inputs) {
        const auto& members = aliases.members({inputs[input]->id, 0});
        if (std::any_of(leaves.begin(), leaves.end(), [&](const Argument& leaf) {
                return leaf.asRef()
                    && std::find(members.begin(), members.end(), *leaf.asRef()) != members.end();
            }))
            writes.handedOut.push_back(input);
    }
    return writes;
}

Result<void> ScriptBodyWrites::check(ScriptScope& scope) const
{
    const auto isHere = [&](const Noted& write) {
        return write.scope == &scope && scope.edit().contains(write.control);
    };
    if (std::none_of(m_noted.begin(), m_noted.end(), isHere))
        return {};
    const Graph graph = scope.edit().build();
    for (const Noted& write : m_noted)
        if (isHere(write) && isReadBehind(graph, write.operand, write.control, write.isCarried))
            return fail(m_emitter.unsupported(*write.node, kSeenTwice));
    return {};
}

} // namespace qs
