// SPDX-License-Identifier: Apache-2.0
#include "engine/custom_modules/pack/pack_call.h"

#include "engine/base/text.h"
#include "engine/custom_modules/gather_modules.h"
#include "engine/execute/op_table.h"

#include <algorithm>

namespace qs {

std::size_t resultCount(const PackCall& call)
{
    const auto op = findOperator(operatorTarget(call.kernel) + ".default");
    return op ? op->schema().returns().size() : 0;
}

Result<std::string> callTarget(const std::string& kernel)
{
    std::string target = operatorTarget(kernel) + ".default";
    if (!findOperator(target))
        return fail(ErrorCode::Unsupported, "LibTorch has no operator " + kernel);
    return target;
}

GraphEdit observedBody(const Node& module, const PackCall& call)
{
    const Graph& own = *module.subgraphs.at(0);
    GraphEdit body;
    body.setTensors(own.tensors());
    body.setInfo(own.info());
    std::vector<ValueRef> inputs;
    std::map<std::string, ValueRef> parameters;
    for (const Node* input : own.inputs()) {
        Node copy = *input;
        copy.id = {};
        const ValueRef made {body.insert(std::move(copy)), 0};
        inputs.push_back(made);
        parameters[input->target] = made;
    }
    Node node;
    node.name = lastPart(operatorTarget(call.kernel));
    node.target = operatorTarget(call.kernel) + ".default";
    node.scope = module.scope;
    node.origin = module.id;
    for (const KernelArgument& wanted : call.arguments) {
        NamedArgument made {wanted.name, wanted.literal};
        if (wanted.source == KernelArgument::Source::Input)
            made.value = inputs.at(wanted.input);
        else if (wanted.source != KernelArgument::Source::Literal)
            made.value = parameters.at(wanted.from);
        node.args.push_back(std::move(made));
    }
    for (const Value& result : module.outputs)
        node.outputs.push_back({"", result.type});
    const NodeId made = body.insert(std::move(node));
    Node output;
    output.kind = NodeKind::Output;
    output.name = "output";
    for (std::uint32_t i = 0; i < module.outputs.size(); ++i)
        output.args.push_back({"", ValueRef {made, i}});
    body.insert(std::move(output));
    return body;
}

PackCallArguments::PackCallArguments(ModuleDraft& draft, const Node& module,
                                     std::span<const std::size_t> carried,
                                     std::span<const std::optional<InteriorGrid>> grids,
                                     bool isStatic)
    : m_draft(draft)
    , m_module(module)
    , m_carried(carried)
    , m_grids(grids)
    , m_isStatic(isStatic)
{
}

Result<std::vector<NamedArgument>> PackCallArguments::all(const std::vector<KernelArgument>& wanted)
{
    std::vector<NamedArgument> made;
    for (const KernelArgument& argument : wanted) {
        QS_TRY(Argument value, one(argument));
        made.push_back({argument.name, std::move(value)});
    }
    return made;
}

Result<Argument> PackCallArguments::one(const KernelArgument& wanted)
{
    using Source = KernelArgument::Source;
    // The draft's node has the converted counterparts of the float node's operands.
    const GatheredArguments read(m_module, m_draft.module());
    switch (wanted.source) {
    case Source::Input: {
        const ValueRef value = read.inputs.at(wanted.input);
        const bool isCarried
            = std::find(m_carried.begin(), m_carried.end(), wanted.input) != m_carried.end();
        if (!m_isStatic || isCarried)
            return Argument(value);
        QS_TRY(const ValueRef quantized,
               m_draft.quantized(Argument(value), "input " + std::to_string(wanted.input)));
        return Argument(quantized);
    }
    case Source::Weight: {
        QS_TRY(const ValueRef weight, m_draft.quantizedWeight(read.parameters.at(wanted.from)));
        return Argument(weight);
    }
    case Source::OfOperator:
        return Argument(read.parameters.at(wanted.from));
    case Source::OutputScale:
    case Source::OutputZeroPoint: {
        const auto& grid = m_grids[wanted.input];
        if (!grid)
            return fail(ErrorCode::Unsupported,
                        "its result " + std::to_string(wanted.input) + " is not quantized");
        return wanted.source == Source::OutputScale ? Argument(grid->scale)
                                                    : Argument(grid->zeroPoint);
    }
    case Source::Prepacked: {
        QS_TRY(std::vector<NamedArgument> parts, all(wanted.parts));
        QS_TRY(const ValueRef packed, m_draft.pack(wanted.from, std::move(parts)));
        return Argument(packed);
    }
    case Source::Literal:
    case Source::Bias:
        break;
    }
    return wanted.literal;
}

} // namespace qs
