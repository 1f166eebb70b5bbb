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

/// Puts what a branch or loop left in a tensor around it back into that tensor.
bool isWriteBack(const Node& node, NodeId control)
{
    const Argument* source = node.target == "aten.copy_.default" ? node.tryArg("src") : nullptr;
    return source && source->asRef() && source->asRef()->node == control;
}

/// Whether a tensor is read behind a branch or loop under a name that it had before, or is kept.
bool isReadBehind(const Graph& graph, ValueRef tensor, NodeId control, bool orKept)
{
    const std::size_t here = graph.position(control);
    const AliasSets before(graph, here);
    const auto& members = before.members(tensor);
    return std::any_of(members.begin(), members.end(), [&](ValueRef member) {
        const auto users = graph.users(member);
        return (orKept && graph.get(member.node).isBuffer)
            || std::any_of(users.begin(), users.end(), [&](const Use& use) {
                   return graph.position(use.node) > here
                       && !isWriteBack(graph.get(use.node), control);
               });
    });
}

/// Whether behind a branch or loop something changes the tensor, or what was handed out of it, in
/// place.
bool isWrittenBehind(const Graph& graph, ValueRef tensor, ValueRef handedOut)
{
    const AliasSets aliases(graph);
    const auto shares = [&](ValueRef ref) {
        const auto& members = aliases.members(ref);
        return std::any_of(members.begin(), members.end(), [&](ValueRef member) {
            return member == tensor || member == handedOut;
        });
    };
    bool found = false;
    for (std::size_t i = graph.position(handedOut.node) + 1; i < graph.nodes().size(); ++i) {
        const Node& node = *graph.nodes()[i];
        if (isWriteBack(node, handedOut.node))
            continue;
        for (const std::size_t a : writtenArguments(node))
            forEachRef(node.args[a].value, [&](ValueRef ref) { found = found || shares(ref); });
    }
    return found;
}

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

ScriptControl::HandedOut ScriptControl::handedOut(ScriptScope& scope,
                                                  const std::vector<Argument>& leaves,
                                                  std::size_t firstCapture)
{
    HandedOut found;
    const Graph graph = scope.edit().build();
    const AliasSets aliases(graph);
    const auto inputs = graph.inputs();
    for (const ValueRef& input : writtenInputs(graph)) {
        const auto& members = aliases.members(input);
        for (std::size_t i = firstCapture; i < inputs.size(); ++i)
            for (std::size_t leaf = 0; inputs[i]->id == input.node && leaf < leaves.size(); ++leaf)
                if (const auto* ref = leaves[leaf].asRef();
                    ref && std::find(members.begin(), members.end(), *ref) != members.end())
                    found.push_back({scope.captures()[i - firstCapture], std::uint32_t(leaf)});
    }
    return found;
}

void ScriptControl::rememberHandedOut(const JitNode& node, NodeId made, const HandedOut& values)
{
    for (const auto& [outside, output] : values)
        m_e.m_handedOut.push_back(
            {m_e.m_scope, {made, output}, outside, m_e.unsupported(node, kSeenTwice)});
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

Result<void> ScriptEvaluator::checkWrites(ScriptScope& scope) const
{
    const auto isHere = [&](const auto& written) { return written.scope == &scope; };
    if (std::none_of(m_loopWrites.begin(), m_loopWrites.end(), isHere)
        && std::none_of(m_handedOut.begin(), m_handedOut.end(), isHere))
        return {};
    const Graph graph = scope.edit().build();
    for (const LoopWrite& write : m_loopWrites)
        if (isHere(write) && scope.edit().contains(write.loop)
            && isReadBehind(graph, write.operand, write.loop, true))
            return fail(write.error);
    for (const HandedOutValue& value : m_handedOut)
        if (isHere(value) && scope.edit().contains(value.output.node)
            && isReadBehind(graph, value.outside, value.output.node, false)
            && isWrittenBehind(graph, value.outside, value.output))
            return fail(value.error);
    return {};
}

} // namespace qs
