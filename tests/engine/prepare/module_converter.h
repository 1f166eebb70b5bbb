// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/execute/interpreter.h"
#include "engine/execute/tensor_store.h"
#include "engine/prepare/leaf_dequants.h"

#include <ATen/ATen.h>

#include <cmath>
#include <stdexcept>
#include <unordered_map>

namespace qs::test {

inline NodeId named(const GraphEdit& edit, const std::string& name)
{
    for (const NodeId id : edit.order())
        if (edit.get(id).name == name)
            return id;
    throw std::runtime_error("no node " + name);
}

/// What conversion does around a custom module, with ranges taken from one run of the float model:
/// its inputs are quantized, its body works on them, its stubs dequantize.
class ModuleConverter
{
public:
    ModuleConverter(GraphEdit& edit, const std::vector<at::IValue>& inputs)
        : m_edit(edit)
    {
        const auto runner = Interpreter::create(std::make_shared<const Graph>(edit.build()));
        const Tap look = [this](ValueRef ref, const Node&, const at::IValue& value) {
            if (value.isTensor())
                m_ranges[ref] = value.toTensor().clone();
            return Result<void>();
        };
        if (const auto done = runner->run(inputs, look); !done)
            throw std::runtime_error(done.error().line());
    }

    void customModule(NodeId id)
    {
        m_edit.change(id).target = "torch.ao.nn.quantized.LSTM";
        auto args = m_edit.get(id).args;
        const std::vector<ValueRef> inputs {*args[0].value.asRef(),
                                            *args[1].value.asList()->at(0).asRef(),
                                            *args[1].value.asList()->at(1).asRef()};
        for (const ValueRef input : inputs) {
            const ValueRef quantized = quantize(input, id);
            m_edit.replaceArgument(id, input == inputs[0] ? 0 : 1, input, quantized);
        }
        // The body stands for a quantized module: quantized tensors in and out.
        GraphEdit body(*m_edit.get(id).subgraphs.at(0));
        const NodeId lstm = named(body, "run");
        for (const char* name : {"x", "h", "c"}) {
            const ValueRef input {named(body, name), 0};
            Node node = operation("dequantize", "aten.dequantize.self", {{"self", input}});
            const NodeId made = body.insert(std::move(node), lstm);
            body.replaceUses(input, {made, 0}, {made});
        }
        const NodeId out = body.order().back();
        for (std::uint32_t i = 0; i < 3; ++i) {
            const ValueRef value {lstm, i};
            Node node = operation("quantize", "aten.quantize_per_tensor.default",
                                  {{"self", value},
                                   {"scale", 2.0 / 256},
                                   {"zero_point", 128},
                                   {"dtype", DType::QUInt8}});
            const NodeId made = body.insert(std::move(node), out);
            body.replaceUses(value, {made, 0}, {made});
        }
        m_edit.change(id).subgraphs = {std::make_shared<const Graph>(body.build())};
        convertDequantStubs(m_edit);
    }

    /// "dequantize - linear" gets its quantize, and all that reads on gets a dequantize.
    void linear(NodeId id)
    {
        const ValueRef value {id, 0};
        const ValueRef quantized = quantize(value, {});
        Node node = operation("dequantize", "aten.dequantize.self", {{"self", quantized}});
        const NodeId made = m_edit.insertAfter(std::move(node), quantized.node);
        m_edit.replaceUses(quantized, {made, 0}, {made});
    }

    /// dequantize - linear - quantize, if it stands there in one piece, becomes one kernel.
    bool lower(NodeId id)
    {
        const Node& linear = m_edit.get(id);
        const NodeId before = linear.args[0].value.asRef()->node;
        const auto users = m_edit.users({id, 0});
        if (!m_edit.get(before).isOp("aten.dequantize.self")
            || m_edit.users({before, 0}).size() != 1 || users.size() != 1
            || !m_edit.get(users[0].node).isOp("aten.quantize_per_tensor.default"))
            return false;
        const Node quantize = m_edit.get(users[0].node);
        const ValueRef weight = *linear.args[1].value.asRef();
        const double scale = m_edit.tensors()
                                 ->getTensor(m_edit.get(weight.node).tensor)
                                 ->abs()
                                 .max()
                                 .item<double>()
            / 127;
        const NodeId whole = m_edit.insert(
            operation(
                "weight", "aten.quantize_per_tensor.default",
                {{"self", weight}, {"scale", scale}, {"zero_point", 0}, {"dtype", DType::QInt8}}),
            id);
        const NodeId packed
            = m_edit.insert(operation("packed", "quantized.linear_prepack.default",
                                      {{"W", ValueRef {whole, 0}}, {"B", linear.args[2].value}}),
                            id);
        const NodeId kernel
            = m_edit.insert(operation("quantized_linear", "quantized.linear.default",
                                      {{"X", m_edit.get(before).args[0].value},
                                       {"W_prepack", ValueRef {packed, 0}},
                                       {"Y_scale_i", quantize.args[1].value},
                                       {"Y_zero_point_i", quantize.args[2].value}}),
                            id);
        m_edit.replaceUses({quantize.id, 0}, {kernel, 0});
        m_edit.eraseDead();
        return true;
    }

private:
    static Node operation(const char* name, const char* target, std::vector<NamedArgument> args)
    {
        Node node;
        node.name = name;
        node.target = target;
        node.args = std::move(args);
        node.outputs.push_back({"", {}});
        return node;
    }

    ValueRef quantize(ValueRef value, NodeId before)
    {
        const at::Tensor& seen = m_ranges.at(value);
        const double low = std::min(0.0, seen.min().item<double>());
        const double scale = (std::max(0.0, seen.max().item<double>()) - low) / 255;
        Node node = operation("quantize_per_tensor", "aten.quantize_per_tensor.default",
                              {{"self", value},
                               {"scale", scale},
                               {"zero_point", std::int64_t(std::lround(-low / scale))},
                               {"dtype", DType::QUInt8}});
        const NodeId id = before ? m_edit.insert(std::move(node), before)
                                 : m_edit.insertAfter(std::move(node), value.node);
        if (!before)
            m_edit.replaceUses(value, {id, 0}, {id});
        return {id, 0};
    }

    GraphEdit& m_edit;
    std::unordered_map<ValueRef, at::Tensor> m_ranges;
};

} // namespace qs::test
