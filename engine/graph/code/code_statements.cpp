// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/code/code_statements.h"

#include "engine/base/text.h"
#include "engine/graph/code/number_attributes.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/graph/operators/operators.h"
#include "engine/graph/operators/quantized_target.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace qs {

namespace {

/// torch.fx treats the modules of torch.nn as leaves, except containers.
bool isLeafModule(const Scope& scope, const CodeContext& context)
{
    const std::string& name = scope.moduleClass;
    if (context.leafClasses.contains(name))
        return !scope.path.empty();
    if (!name.starts_with("torch.nn.") && !name.starts_with("torch.ao.nn."))
        return false;
    const std::string last = lastPart(name);
    return !scope.path.empty() && last != "Sequential" && !last.starts_with("ModuleList")
        && !last.starts_with("ModuleDict") && last != "Module";
}

/// A custom module is always a leaf, independent of its class.
bool isLeafCall(const Node& node, const CodeContext& context)
{
    return node.isOp(kModuleTarget) || isLeafModule(node.scope, context);
}

class StatementBuilder
{
public:
    StatementBuilder(const Graph& graph, const CodeContext& context)
        : m_graph(graph)
        , m_context(context)
    {
        for (std::size_t i = 0; i < context.fusions.size(); ++i)
            for (NodeId member : context.fusions[i].members)
                m_fusionOf[member] = int(i);
        findStored();
        collect();
        for (auto& [key, call] : m_calls)
            if (!isWhole(call))
                for (const Node* node : call.nodes)
                    m_callOf.erase(node);
    }

    std::vector<CodeStatement> build()
    {
        for (const NodePtr& node : m_graph.nodes()) {
            if (node->kind == NodeKind::Output) {
                needStored(*node);
                m_out.push_back({CodeStatement::Kind::Return, {node.get()}, node.get()});
            } else if (node->isOperator() && !m_stored.contains(node->id)) {
                add(*node);
            }
        }
        return std::move(m_out);
    }

private:
    using Key = std::tuple<int, std::string, int>; // fusion, or module path and call
    struct Call
    {
        int fusion = -1;
        std::vector<const Node*> nodes;
    };

    /// Collects nodes that depend only on parameters and constants.
    void findStored()
    {
        for (const NodePtr& node : m_graph.nodes()) {
            bool stored = node->isStored();
            if (node->isOperator()) {
                bool any = false, all = true;
                for (const auto& argument : node->args)
                    forEachRef(argument.value, [&](ValueRef ref) {
                        any = true;
                        all = all && m_stored.contains(ref.node);
                    });
                stored = any && all;
            }
            if (stored)
                m_stored.insert(node->id);
        }
    }

    void collect()
    {
        for (const NodePtr& node : m_graph.nodes()) {
            if (!node->isOperator() || m_stored.contains(node->id) || isQuantizing(*node))
                continue;
            const auto fused = m_fusionOf.find(floatNodeOf(*node));
            const bool leaf = isLeafCall(*node, m_context);
            if (fused == m_fusionOf.end() && !leaf)
                continue;
            const Key key = fused != m_fusionOf.end()
                ? Key(fused->second, "", 0)
                : Key(-1, node->scope.path, node->scope.callIndex);
            Call& call = m_calls[key];
            call.fusion = std::get<0>(key);
            call.nodes.push_back(node.get());
            m_callOf[node.get()] = &call;
        }
    }

    /// Fused modules are printed as a call of the fused class.
    bool isFusedModule(const Call& call) const
    {
        return call.fusion >= 0 && !m_context.fusions[std::size_t(call.fusion)].moduleClass.empty();
    }

    /// True if the first node belongs to a leaf or fused module and only the last node's values
    /// have outside consumers.
    bool isWhole(const Call& call) const
    {
        if (!isLeafCall(*call.nodes.front(), m_context) && !isFusedModule(call))
            return false;
        for (std::size_t i = 0; i + 1 < call.nodes.size(); ++i)
            for (std::uint32_t output = 0; output < call.nodes[i]->outputs.size(); ++output)
                for (const Use& use : m_graph.users({call.nodes[i]->id, output})) {
                    const Node* reader = &m_graph.get(use.node);
                    if (std::find(call.nodes.begin(), call.nodes.end(), reader) == call.nodes.end())
                        return false;
                }
        return true;
    }

    void add(const Node& node)
    {
        const auto found = m_callOf.find(&node);
        if (found == m_callOf.end()) {
            if (quantizeOf(m_graph, node)) // printed with the quantize step
                return;
            needStored(node);
            CodeStatement statement {CodeStatement::Kind::Function, {&node}, &node};
            if (const Node* choice = choiceOf(m_graph, node))
                statement.nodes.insert(statement.nodes.begin(), choice);
            m_out.push_back(std::move(statement));
            return;
        }
        const Call& call = *found->second;
        if (call.nodes.back() != &node)
            return;
        CodeStatement statement {CodeStatement::Kind::Module, {}, call.nodes.front(), call.fusion};
        std::set<std::size_t> inside;
        for (const Node* member : call.nodes)
            gatherStored(*member, inside, statement.quantizedWeight);
        for (std::size_t position : inside)
            statement.nodes.push_back(m_graph.nodes()[position].get());
        statement.nodes.insert(statement.nodes.end(), call.nodes.begin(), call.nodes.end());
        m_out.push_back(std::move(statement));
    }

    void gatherStored(const Node& node, std::set<std::size_t>& inside, bool& quantized) const
    {
        for (const auto& argument : node.args)
            forEachRef(argument.value, [&](ValueRef ref) {
                if (!m_stored.contains(ref.node))
                    return;
                const Node& source = m_graph.get(ref.node);
                quantized = quantized || isQuantize(source);
                if (inside.insert(m_graph.position(ref.node)).second)
                    gatherStored(source, inside, quantized);
            });
    }

    /// Adds statements for the stored values that a function, a return or another stored value
    /// reads.
    void needStored(const Node& node) { needStored(node, node); }

    void needStored(const Node& node, const Node& reader)
    {
        for (const auto& argument : node.args) {
            // Scale and zero point of a quantize node are separate attributes.
            const bool isParameter = isScale(argument.name) || isZeroPoint(argument.name);
            if (isParameter
                && (isQuantizing(node) || !numberAttribute(m_graph, node, argument).empty()))
                continue;
            forEachRef(argument.value, [&](ValueRef ref) {
                if (m_stored.contains(ref.node) && m_read.insert(ref.node).second)
                    addStored(ref, reader);
            });
        }
    }

    void addStored(ValueRef ref, const Node& reader)
    {
        const Node& source = m_graph.get(ref.node);
        const auto push = [&](CodeStatement::Kind kind) {
            m_out.push_back({kind, {&source}, &source, -1, false, &reader});
        };
        if (isPrepackTarget(source.target)) {
            push(CodeStatement::Kind::PackedWeight);
            return;
        }
        needStored(source, reader);
        push(source.isOperator() ? CodeStatement::Kind::Function : CodeStatement::Kind::Attribute);
        if (m_context.observedWeights.contains(ref))
            push(CodeStatement::Kind::WeightObserver);
    }

    const Graph& m_graph;
    const CodeContext& m_context;
    std::unordered_map<NodeId, int> m_fusionOf;
    std::unordered_set<NodeId> m_stored;
    std::unordered_set<NodeId> m_read;
    std::map<Key, Call> m_calls;
    std::unordered_map<const Node*, const Call*> m_callOf;
    std::vector<CodeStatement> m_out;
};

} // namespace

bool isScale(std::string_view argument)
{
    return argument == "scale" || argument == "scales" || argument == "output_scale"
        || argument == "Y_scale_i";
}

bool isZeroPoint(std::string_view argument)
{
    return argument == "zero_point" || argument == "zero_points" || argument == "output_zero_point"
        || argument == "Y_zero_point_i";
}

bool isObserver(const Node& node)
{
    return bool(node.observer);
}

bool isDequantStub(const Node& node)
{
    return node.isOp(kStubTarget);
}

bool isQuantize(const Node& node)
{
    return isQuantizeStep(node.target) || isTensorQuantize(node.target);
}

bool isQuantizing(const Node& node)
{
    return isObserver(node) || isQuantize(node) || isTensorDequantize(node.target)
        || isDequantizeStep(node.target) || isChooseStep(node.target);
}

NodeId floatNodeOf(const Node& node)
{
    return node.origin ? node.origin : node.id;
}

std::vector<CodeStatement> codeStatements(const Graph& graph, const CodeContext& context)
{
    return StatementBuilder(graph, context).build();
}

} // namespace qs
