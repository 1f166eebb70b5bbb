// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/code/code_namer.h"

#include "engine/graph/code/number_attributes.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/quantized_target.h"

#include <algorithm>
#include <tuple>

namespace qs {

namespace {

bool isAttributeOfReference(const Node& node)
{
    // Parameters chosen at run time are values of the graph, not attributes.
    const Argument* scale = node.tryArg("scale");
    return isQuantize(node) && !(scale && scale->asRef());
}

ValueRef refOf(const Node& node, const Value& value)
{
    return {node.id, std::uint32_t(&value - node.outputs.data())};
}

} // namespace

CodeNamer::CodeNamer(const Graph& graph, const CodeContext& context)
    : m_graph(graph)
    , m_context(context)
    , m_statements(codeStatements(graph, context))
{
    for (const CodeStatement& statement : m_statements)
        for (const Node* node : statement.nodes)
            m_statementOf.emplace(node->id, &statement);
    if (context.model) {
        CodeContext plain;
        plain.leafClasses = context.leafClasses;
        carry(CodeNamer(*context.model, plain));
    }
    if (context.model && context.reference) {
        CodeContext reference = context;
        reference.reference = nullptr;
        carry(CodeNamer(*context.reference, reference));
    }
    for (const Node* input : graph.inputs())
        for (const Value& value : input->outputs) {
            const auto it = m_earlier.find(input->id);
            m_valueNames[refOf(*input, value)] = it != m_earlier.end()
                ? it->second
                : m_names.create(input->target.empty() ? input->name : input->target);
        }
    nameObservers();
    for (const CodeStatement& statement : m_statements)
        nameStatement(statement);
}

/// torch.ao numbers observers in the order of operators: first those of an operator's inputs, then
/// the one of its result.
void CodeNamer::nameObservers()
{
    std::map<std::tuple<std::size_t, bool, std::uint32_t, std::size_t>, const Node*> visits;
    for (const CodeStatement& statement : m_statements) {
        const Node& node = *statement.root;
        if (statement.kind == CodeStatement::Kind::WeightObserver) {
            std::uint32_t argument = 0;
            for (const Use& use : m_graph.users({node.id, 0}))
                argument = use.node == statement.reader->id ? use.argument : argument;
            visits[{m_graph.position(statement.reader->id), false, argument, 0}] = &node;
            continue;
        }
        const ValueRef* value
            = isObserver(node) && !node.args.empty() ? node.args[0].value.asRef() : nullptr;
        if (!value)
            continue;
        const std::size_t own = m_graph.position(node.id);
        const Node& producer = m_graph.get(value->node);
        const auto readers = m_graph.users({node.id, 0});
        if (m_context.quantized.contains(floatNodeOf(producer)) && !isObserver(producer))
            visits[{m_graph.position(producer.id), true, 0, own}] = &node;
        else if (!readers.empty())
            visits[{m_graph.position(readers[0].node), false, readers[0].argument, own}] = &node;
        else
            visits[{own, false, 0, own}] = &node;
    }
    for (const auto& [visit, node] : visits)
        if (!isDequantStub(*node))
            (isObserver(*node) ? m_earlier : m_weightObservers)[node->id]
                = m_names.create("activation_post_process_0");
    for (const auto& [visit, node] : visits)
        if (isDequantStub(*node))
            m_earlier[node->id] = m_names.create("dequant_stub_0");
}

const std::string& CodeNamer::of(ValueRef value) const
{
    static const std::string unknown = "_";
    const auto it = m_valueNames.find(value);
    return it == m_valueNames.end() ? unknown : it->second;
}

const std::string& CodeNamer::stored(const Node& node) const
{
    const auto it = m_observedWeights.find(node.id);
    return it == m_observedWeights.end() ? of({node.id, 0}) : it->second;
}

const ParameterNames* CodeNamer::parameters(const Node& node) const
{
    const auto it = m_parameters.find(node.id);
    return it == m_parameters.end() ? nullptr : &it->second;
}

/// Takes names from the same nodes of an earlier form; a fused module keeps its first operator's
/// name.
void CodeNamer::carry(const CodeNamer& earlier)
{
    for (const auto& [value, text] : earlier.m_valueNames)
        if (value.index == 0)
            m_earlier[value.node] = text;
    m_calls.insert(earlier.m_calls.begin(), earlier.m_calls.end());
    for (const CodeStatement& statement : earlier.m_statements)
        if (const auto* names = earlier.parameters(*statement.root)) {
            m_parameters[statement.root->id] = *names;
            // Quantization parameters of a weight are not those of its operator.
            if (!statement.reader)
                m_parametersOf.emplace(floatNodeOf(*statement.root), *names);
        }
    m_names = earlier.m_names;
}

std::string CodeNamer::candidate(const CodeStatement& statement) const
{
    const Node& node = *statement.root;
    if (statement.kind == CodeStatement::Kind::Attribute)
        return moduleCallName(node.target);
    if (isDequantizeStep(node.target))
        return "dequantize";
    if (choiceOf(m_graph, statement.result()))
        return std::string(kDynamicQuantize);
    return targetBase(node.target);
}

void CodeNamer::nameStatement(const CodeStatement& statement)
{
    const Node& result = statement.result();
    if (statement.kind == CodeStatement::Kind::Return)
        return;
    if (statement.kind == CodeStatement::Kind::WeightObserver) {
        m_observedWeights[result.id] = m_valueNames[{result.id, 0}];
        m_valueNames[{result.id, 0}] = m_weightObservers[result.id];
        return;
    }
    nameParameters(statement);
    std::string first;
    if (statement.kind == CodeStatement::Kind::PackedWeight) {
        first
            = m_names.create(m_attributes.create(statement.reader->scope.path + "_packed_weight_"));
    } else if (statement.kind == CodeStatement::Kind::Module) {
        auto& known = m_calls[{statement.path(), statement.root->scope.callIndex}];
        if (known.empty())
            known = m_names.create(moduleCallName(statement.path()));
        first = known;
    } else if (const auto it = m_earlier.find(sameNode(result)); it != m_earlier.end()) {
        first = it->second;
    } else {
        first = m_names.create(candidate(statement));
    }
    m_valueNames[{result.id, 0}] = first;
    for (std::uint32_t i = 1; i < result.outputs.size(); ++i)
        m_valueNames[{result.id, i}] = m_names.create(first + "_" + std::to_string(i));
}

bool CodeNamer::isPackedWeight(NodeId id) const
{
    const CodeStatement* statement = statementOf(id);
    return statement && statement->kind == CodeStatement::Kind::PackedWeight;
}

/// Returns the node of the earlier form: itself, or the float operator that this kernel replaces.
NodeId CodeNamer::sameNode(const Node& node) const
{
    const auto root = m_context.roots.find(node.origin);
    if (m_context.reference && root != m_context.roots.end())
        for (const auto& argument : node.args)
            if (const ValueRef* ref = argument.value.asRef(); ref && isPackedWeight(ref->node))
                return root->second;
    const Node* before = m_context.model ? m_context.model->tryGet(node.origin) : nullptr;
    return before && before->target == node.target ? node.origin : node.id;
}

void CodeNamer::nameParameters(const CodeStatement& statement)
{
    const Node& node = *statement.root;
    if (statement.kind != CodeStatement::Kind::Function)
        return;
    if (!m_context.model) {
        takeAttributes(node);
        return;
    }
    if (m_context.reference) {
        // A kernel gets the parameters of the quantize node that it replaced.
        const auto it = m_parametersOf.find(floatNodeOf(node));
        const bool told = std::any_of(node.args.begin(), node.args.end(), [](const auto& argument) {
            return isScale(argument.name) && !argument.value.asRef();
        });
        if (told && it != m_parametersOf.end())
            m_parameters.emplace(node.id, it->second);
        return;
    }
    if (!isAttributeOfReference(node))
        return;
    const std::string place = placeOf(node);
    m_parameters[node.id]
        = {m_attributes.create(place + "_scale_"), m_attributes.create(place + "_zero_point_")};
}

void CodeNamer::takeAttributes(const Node& node)
{
    ParameterNames names;
    for (const NamedArgument& argument : node.args)
        if (std::string* name = isScale(argument.name) ? &names.scale
                : isZeroPoint(argument.name)           ? &names.zeroPoint
                                                       : nullptr)
            *name = numberAttribute(m_graph, node, argument);
    if (!names.scale.empty() && !names.zeroPoint.empty())
        m_parameters[node.id] = std::move(names);
}

const CodeStatement* CodeNamer::statementOf(NodeId id) const
{
    const auto it = m_statementOf.find(id);
    return it == m_statementOf.end() ? nullptr : it->second;
}

/// Returns the stem of a quantize node's name: the module of the value's producer; if that has no
/// qconfig, the first reader's module and "_input".
std::string CodeNamer::placeOf(const Node& quantize) const
{
    const ValueRef* value = quantize.args.empty() ? nullptr : quantize.args[0].value.asRef();
    const Node* producer = value ? m_graph.tryGet(value->node) : nullptr;
    if (!producer || isQuantizing(*producer))
        return {};
    if (producer->kind == NodeKind::Input
        || m_context.withoutQConfig.contains(floatNodeOf(*producer)))
        return firstReader(quantize) + "_input";
    const CodeStatement* made = statementOf(producer->id);
    if (made && made->kind == CodeStatement::Kind::Attribute)
        return firstReader(quantize);
    return made ? made->path() : std::string();
}

/// Returns the module of the first consumer of the dequantized value (of the quantized value if it
/// has no dequantize); a linear function takes precedence.
std::string CodeNamer::firstReader(const Node& quantize) const
{
    const std::string* first = nullptr;
    for (const Use& use : m_graph.users({quantize.id, 0})) {
        const CodeStatement* direct = statementOf(use.node);
        if (direct && !isQuantizing(*direct->root))
            return direct->path();
        for (const Use& reader : m_graph.users({use.node, 0})) {
            const CodeStatement* statement = statementOf(reader.node);
            if (!statement || statement->kind == CodeStatement::Kind::Return
                || isQuantizing(*statement->root))
                continue;
            if (statement->kind == CodeStatement::Kind::Function
                && statement->root->isOp(kLinearTarget))
                return statement->path();
            if (!first)
                first = &statement->path();
        }
    }
    return first ? *first : std::string();
}

} // namespace qs
