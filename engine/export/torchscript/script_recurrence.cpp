// SPDX-License-Identifier: Apache-2.0
#include "engine/export/torchscript/script_recurrence.h"

#include "engine/export/torchscript/script_ops.h"

#include <torch/csrc/jit/ir/ir.h>

namespace qs {

namespace {

using ScriptValues = std::vector<ScriptValue*>;

Result<ScriptValues> valuesOf(ScriptBuilder& builder, const Argument& argument)
{
    ScriptValues out;
    if (const auto* list = argument.asList())
        for (const Argument& item : *list) {
            QS_TRY(ScriptValue * value, builder.value(*item.asRef()));
            out.push_back(value);
        }
    return out;
}

} // namespace

Result<void> emitRecurrence(ScriptBuilder& builder, const Node& node)
{
    QS_TRY(ScriptValue * sequence, builder.value(*node.args.at(0).value.asRef()));
    QS_TRY(const ScriptValues states, valuesOf(builder, node.args.at(1).value));
    QS_TRY(const ScriptValues extra, valuesOf(builder, node.args.at(2).value));
    torch::jit::Graph& body = builder.body();
    ScriptValue* zero = builder.literal(std::int64_t(0));
    ScriptValue* steps = builder.call("aten::size", {sequence, zero});
    ScriptValue* results = body.insertNode(body.createList(c10::TensorType::get(), {}))->output();
    ScriptValue* goOn = builder.literal(true);
    torch::jit::Node* loop = body.insertNode(body.create(torch::jit::prim::Loop, 0));
    loop->addInput(steps);
    loop->addInput(goOn);
    torch::jit::Block* block = loop->addBlock();
    ScriptValue* step = block->addInput("step")->setType(c10::IntType::get());
    ScriptValues inputs {nullptr};
    for (ScriptValue* state : states) {
        loop->addInput(state);
        inputs.push_back(block->addInput()->setType(state->type()));
    }
    inputs.insert(inputs.end(), extra.begin(), extra.end());
    {
        const torch::jit::WithInsertPoint inside(block);
        inputs[0]
            = builder.call("aten::select", {sequence, builder.literal(std::int64_t(0)), step});
        QS_TRY(const ScriptValues next, builder.inlineGraph(*node.subgraphs.at(0), inputs));
        builder.call("aten::append", {results, next.at(0)});
        block->registerOutput(builder.literal(true));
        for (ScriptValue* state : next)
            block->registerOutput(state);
    }
    builder.bind({node.id, 0}, builder.call("aten::stack", {results, zero}));
    for (std::uint32_t i = 0; i < states.size(); ++i)
        builder.bind({node.id, i + 1}, loop->addOutput()->setType(states[i]->type()));
    return {};
}

} // namespace qs
