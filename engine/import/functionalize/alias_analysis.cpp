// SPDX-License-Identifier: Apache-2.0
#include "engine/import/functionalize/alias_analysis.h"

#include "engine/execute/control/script_control.h"
#include "engine/execute/op_table.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/graph/operators/operators.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_set>

namespace qs {

namespace {

/// True for an einsum of several operands, which returns a new tensor. An einsum of one operand may
/// return a view of it.
bool isProduct(const Node& node)
{
    const Argument* operands = atenWord(node.target) == "einsum" ? node.tryArg("tensors") : nullptr;
    return operands && operands->asList() && operands->asList()->size() > 1;
}

/// True if an operator may return its input or a view although its schema promises a new tensor.
/// LibTorch checks that promise only for operators with a derivative formula. Of composite
/// operators, only the listed ones are assumed to keep it.
bool mayReturnInput(const Node& node, const c10::OperatorHandle& op)
{
    const OperatorTraits traits = factsOf(node.target).traits;
    if (traits.has(OperatorTrait::HandsArgumentOn) || node.isOp(kObserveTarget))
        return true;
    return op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd)
        && !traits.has(OperatorTrait::AllocatesResult) && !isProduct(node);
}

bool returnsAlias(const c10::FunctionSchema& schema)
{
    for (const auto& result : schema.returns())
        if (result.alias_info())
            return true;
    return false;
}

/// Returns, by position, the body's inputs that its results may alias.
std::vector<bool> returnedInputs(const Graph& body)
{
    const AliasSets aliases(body);
    std::vector<bool> returned;
    for (const Node* input : body.inputs()) {
        bool found = false;
        for (const ValueRef& member : aliases.members({input->id, 0}))
            for (const Use& use : body.users(member))
                found = found || use.node == body.output().id;
        returned.push_back(found);
    }
    return returned;
}

/// Returns the operands of a branch or loop that its bodies return, unchanged or as a view.
std::vector<ValueRef> handedThrough(const Node& node)
{
    std::vector<std::vector<std::string_view>> operandLists {{"carried", "operands"}};
    if (node.target == kIfTarget)
        operandLists = {{"then_operands"}, {"else_operands"}};
    std::vector<ValueRef> found;
    for (std::size_t g = 0; g < node.subgraphs.size() && g < operandLists.size(); ++g) {
        const std::vector<bool> returned = returnedInputs(*node.subgraphs[g]);
        // The first input of a loop's body is the iteration number.
        std::size_t input = node.target == kLoopTarget ? 1 : 0;
        for (const std::string_view name : operandLists[g]) {
            const Argument* operands = node.tryArg(name);
            const auto* items = operands ? operands->asList() : nullptr;
            for (std::size_t i = 0; items && i < items->size(); ++i, ++input)
                if (const auto* ref = (*items)[i].asRef())
                    if (name == "carried" || (input < returned.size() && returned[input]))
                        found.push_back(*ref);
        }
    }
    return found;
}

/// True if the element types exclude that one value is an undeclared view of the other.
bool differInType(const ValueType& a, const ValueType& b)
{
    return a.kind == ValueKind::Tensor && b.kind == ValueKind::Tensor && a.dtype != DType::Unknown
        && b.dtype != DType::Unknown && a.dtype != b.dtype;
}

/// Returns the values that the node's outputs may alias.
std::vector<ValueRef> aliasedOperands(const Graph& graph, const Node& node)
{
    if (node.target == kIfTarget || node.target == kLoopTarget)
        return handedThrough(node);
    std::vector<ValueRef> found;
    const auto add = [&](ValueRef ref) { found.push_back(ref); };
    const auto op = findOperator(node.target);
    if (!op) {
        // An operator unknown to LibTorch may alias all its arguments.
        for (const auto& arg : node.args)
            forEachRef(arg.value, add);
        return found;
    }
    if (!returnsAlias(op->schema()))
        return undeclaredAliases(graph, node);
    for (const auto& slot : op->schema().arguments())
        if (slot.alias_info())
            if (const Argument* given = node.tryArg(slot.name()))
                forEachRef(*given, add);
    return found;
}

} // namespace

AliasSets::AliasSets(const Graph& graph, std::size_t count)
    : m_graph(&graph)
{
    // Two weights may be one tensor: they have the same key in the store.
    std::unordered_map<TensorId, ValueRef> byKey;
    for (const auto& node : graph.nodes()) {
        for (std::uint32_t i = 0; i < node->outputs.size(); ++i) {
            m_setOf[{node->id, i}] = m_sets.size();
            m_sets.push_back({{node->id, i}});
        }
        if (!node->tensor || node->outputs.empty())
            continue;
        const auto [it, isNew] = byKey.try_emplace(node->tensor, ValueRef {node->id, 0});
        if (!isNew)
            join(it->second, {node->id, 0});
    }
    advance(count);
}

void AliasSets::advance(std::size_t count)
{
    const auto holdsTensors = [&](ValueRef ref) {
        const ValueKind kind = m_graph->value(ref).type.kind;
        return kind == ValueKind::Tensor || kind == ValueKind::Tuple;
    };
    for (; m_count < count; ++m_count) {
        const Node& node = *m_graph->nodes()[m_count];
        if (node.kind != NodeKind::Op || node.outputs.empty())
            continue;
        for (const ValueRef& operand : aliasedOperands(*m_graph, node))
            for (std::uint32_t i = 0; i < node.outputs.size(); ++i)
                if (holdsTensors(operand) && holdsTensors({node.id, i}))
                    join(operand, {node.id, i});
    }
}

bool AliasSets::isBefore(ValueRef a, ValueRef b) const
{
    return std::pair(m_graph->position(a.node), a.index)
        < std::pair(m_graph->position(b.node), b.index);
}

void AliasSets::join(ValueRef a, ValueRef b)
{
    std::size_t into = m_setOf.at(a);
    std::size_t from = m_setOf.at(b);
    if (into == from)
        return;
    if (m_sets[into].size() < m_sets[from].size())
        std::swap(into, from);
    auto& set = m_sets[into];
    for (const ValueRef& moved : m_sets[from])
        m_setOf[moved] = into;
    const auto middle = set.insert(set.end(), m_sets[from].begin(), m_sets[from].end());
    m_sets[from] = {};
    if (isBefore(*middle, *std::prev(middle)))
        std::inplace_merge(set.begin(), middle, set.end(),
                           [this](ValueRef x, ValueRef y) { return isBefore(x, y); });
}

const std::vector<ValueRef>& AliasSets::members(ValueRef ref) const
{
    return m_sets[m_setOf.at(ref)];
}

void forEachWrite(
    const Graph& graph,
    const std::function<void(const Node& writer, const std::vector<ValueRef>& changed)>& call)
{
    AliasSets aliases(graph, 0);
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        const Node& node = *graph.nodes()[i];
        aliases.advance(i);
        for (const std::size_t argument : writtenArguments(node))
            forEachRef(node.args[argument].value,
                       [&](ValueRef written) { call(node, aliases.members(written)); });
    }
}

std::vector<ValueRef> undeclaredAliases(const Graph& graph, const Node& node)
{
    std::vector<ValueRef> found;
    const auto op = node.kind == NodeKind::Op ? findOperator(node.target) : std::nullopt;
    if (!op || returnsAlias(op->schema()) || node.outputs.empty() || !mayReturnInput(node, *op))
        return found;
    const bool single = node.outputs.size() == 1;
    for (const auto& arg : node.args)
        forEachRef(arg.value, [&](ValueRef ref) {
            if (!single || !differInType(graph.value(ref).type, node.outputs[0].type))
                found.push_back(ref);
        });
    return found;
}

std::vector<std::size_t> writtenArguments(const Node& node)
{
    std::vector<std::size_t> found;
    const auto op = node.kind == NodeKind::Op ? findOperator(node.target) : std::nullopt;
    if (!op)
        return found;
    for (const auto& slot : op->schema().arguments())
        if (slot.alias_info() && slot.alias_info()->isWrite())
            for (std::size_t a = 0; a < node.args.size(); ++a)
                if (node.args[a].name == slot.name() && !node.args[a].value.isNone())
                    found.push_back(a);
    return found;
}

bool writesValues(const Node& node)
{
    return !node.target.starts_with("aten.detach_.")
        && !node.target.starts_with("aten.requires_grad_.");
}

bool hasWrites(const Graph& graph)
{
    std::unordered_set<std::string_view> seen; // few operators, many nodes
    for (const auto& node : graph.nodes()) {
        if (node->kind != NodeKind::Op || !seen.insert(node->target).second)
            continue;
        if (const auto op = findOperator(node->target); op && mutatesArguments(op->schema()))
            return true;
    }
    return false;
}

} // namespace qs
