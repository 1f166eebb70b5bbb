// SPDX-License-Identifier: Apache-2.0
#include "engine/import/alias_analysis.h"
#include "engine/import/torchscript_control.h"

#include <algorithm>
#include <set>

namespace qs {

namespace {

constexpr const char* kSeenTwice
    = "changes a tensor in place that is also seen under another name, which is not followed into "
      "or out of its body; write the change without the underscore";

} // namespace

std::vector<ValueRef> ScriptControl::writtenInputs(const Graph& graph)
{
    std::vector<ValueRef> found;
    AliasSets aliases(graph, 0);
    std::set<ValueRef> touched;
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        const Node& node = *graph.nodes()[i];
        aliases.advance(i);
        for (const std::size_t a : writtenArguments(node))
            forEachRef(node.args[a].value, [&](ValueRef ref) {
                const auto& members = aliases.members(ref);
                touched.insert(members.begin(), members.end());
            });
    }
    for (const Node* input : graph.inputs())
        if (touched.contains({input->id, 0}))
            found.push_back({input->id, 0});
    return found;
}

void ScriptControl::writeBack(const std::vector<ValueRef>& targets, NodeId node,
                              std::size_t firstOutput, const JitNode& from)
{
    for (std::size_t i = 0; i < targets.size(); ++i)
        m_e.emitOne(
            "aten.copy_.default",
            {{"self", targets[i]}, {"src", ValueRef {node, std::uint32_t(firstOutput + i)}}},
            ValueKind::Tensor, &from);
}

/// A body sees two names of one tensor as two tensors.
Result<void> ScriptControl::checkNames(const JitNode& node, const std::vector<ValueRef>& written,
                                       const std::vector<ValueRef>& operands) const
{
    if (written.empty())
        return {};
    const Graph around = m_e.m_scope->edit().build();
    const AliasSets aliases(around);
    for (const ValueRef& target : written)
        for (const ValueRef& member : aliases.members(target))
            if (std::count(operands.begin(), operands.end(), member) > (member == target ? 1 : 0))
                return fail(m_e.unsupported(node, kSeenTwice));
    return {};
}

Result<void> ScriptControl::checkNextRound(const JitNode& node, const Graph& body,
                                           const Argument& handedOn, ValueRef leaf) const
{
    const auto* next = handedOn.asRef();
    if (!next)
        return {};
    const AliasSets aliases(body);
    for (const ValueRef& member : aliases.members(*next))
        if (member != leaf && body.get(member.node).kind == NodeKind::Input)
            return fail(m_e.unsupported(node, kSeenTwice));
    return {};
}

/// Tensors of the scope around that one of the bodies changes in place.
Result<std::vector<ValueRef>> ScriptControl::writtenOutside(const JitNode& node, const Way& yes,
                                                            const Way& no)
{
    std::vector<ValueRef> written;
    for (const Way* way : {&yes, &no}) {
        const Graph graph = way->scope->edit().build();
        const auto inputs = graph.inputs();
        const std::vector<ValueRef>& captures = way->scope->captures();
        std::vector<ValueRef> here;
        for (const ValueRef& input : writtenInputs(graph))
            for (std::size_t i = 0; i < inputs.size(); ++i)
                if (inputs[i]->id == input.node)
                    here.push_back(captures[i]);
        QS_CHECK(checkNames(node, here, captures));
        for (const ValueRef& outside : here)
            if (std::find(written.begin(), written.end(), outside) == written.end())
                written.push_back(outside);
    }
    return written;
}

void ScriptControl::rememberWrite(const JitNode& node, NodeId loop, ValueRef operand)
{
    m_e.m_loopWrites.push_back({m_e.m_scope, loop, operand, m_e.unsupported(node, kSeenTwice)});
}

Result<void> ScriptEvaluator::checkLoopWrites(ScriptScope& scope) const
{
    if (std::none_of(m_loopWrites.begin(), m_loopWrites.end(),
                     [&](const LoopWrite& write) { return write.scope == &scope; }))
        return {};
    const Graph graph = scope.edit().build();
    for (const LoopWrite& write : m_loopWrites) {
        if (write.scope != &scope || !scope.edit().contains(write.loop))
            continue;
        const std::size_t here = graph.position(write.loop);
        const AliasSets aliases(graph, here);
        for (const ValueRef& member : aliases.members(write.operand)) {
            const auto users = graph.users(member);
            const bool isRead = std::any_of(users.begin(), users.end(), [&](const Use& use) {
                return graph.position(use.node) > here;
            });
            if (isRead || graph.get(member.node).isBuffer)
                return fail(write.error);
        }
    }
    return {};
}

} // namespace qs
