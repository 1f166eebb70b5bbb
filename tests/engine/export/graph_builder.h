// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/execute/tensor_store.h"
#include "engine/execute/value_conversion.h"
#include "engine/graph/graph_edit.h"

#include <ATen/ATen.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace qs {

/// Builds small graphs for the writers' tests, in the form that import and conversion give them.
class GraphBuilder
{
public:
    GraphBuilder()
        : m_store(std::make_shared<TensorStore>())
    {
        m_edit.setTensors(m_store);
        m_edit.modules().add("", "Net");
        m_info.format = "test";
        m_info.name = "tests.Net";
    }

    static Dim batch() { return {2, "s77", "Symbol('s77', positive=True, integer=True)"}; }

    static ValueType tensor(std::vector<Dim> shape, DType dtype = DType::Float32)
    {
        ValueType type;
        type.dtype = dtype;
        type.shapeKnown = true;
        type.shape = std::move(shape);
        return type;
    }

    /// A batch of tensors of this shape.
    static ValueType batchOf(const std::vector<std::int64_t>& rest, DType dtype = DType::Float32)
    {
        std::vector<Dim> shape {batch()};
        for (const std::int64_t size : rest)
            shape.push_back(Dim::fixed(size));
        return tensor(std::move(shape), dtype);
    }

    ValueRef input(const std::string& name, ValueType type)
    {
        return add(NodeKind::Input, name, name, {}, {std::move(type)});
    }

    ValueRef held(const std::string& path, const at::Tensor& value,
                  NodeKind kind = NodeKind::Parameter)
    {
        Node node = make(kind, "p_" + path, path, {}, {typeOfTensor(value)});
        for (char& c : node.name)
            c = c == '.' ? '_' : c;
        node.tensor = m_store->add(value);
        return {m_edit.insert(std::move(node)), 0};
    }

    ValueRef buffer(const std::string& path, const at::Tensor& value, bool persistent)
    {
        const ValueRef ref = held(path, value);
        m_edit.change(ref.node).isBuffer = true;
        m_edit.change(ref.node).persistentBuffer = persistent;
        return ref;
    }

    ValueRef op(const std::string& target, std::vector<NamedArgument> args, ValueType type)
    {
        return add(NodeKind::Op, nameOf(target), target, std::move(args), {std::move(type)});
    }

    /// An operator that returns several values or a list.
    NodeId many(const std::string& target, std::vector<NamedArgument> args,
                const std::vector<ValueType>& types)
    {
        Node node = make(NodeKind::Op, nameOf(target), target, std::move(args), types);
        for (std::size_t i = 0; i < node.outputs.size(); ++i)
            node.outputs[i].name = "getitem";
        return m_edit.insert(std::move(node));
    }

    ValueRef symbol(const std::string& target, std::vector<NamedArgument> args,
                    const std::string& expression)
    {
        ValueType type;
        type.kind = ValueKind::SymInt;
        type.expression = expression;
        return op(target, std::move(args), type);
    }

    /// A quantize-dequantize pair as the reference form has it.
    ValueRef pair(ValueRef input, double scale, int zeroPoint, std::pair<int, int> integers,
                  DType dtype, const ValueType& type)
    {
        const std::vector<NamedArgument> rest {{"scale", scale},
                                               {"zero_point", zeroPoint},
                                               {"quant_min", integers.first},
                                               {"quant_max", integers.second},
                                               {"dtype", dtype}};
        ValueType quantized = type;
        quantized.dtype = dtype;
        ValueRef ref = input;
        for (const char* step : {"quantize_per_tensor", "dequantize_per_tensor"}) {
            std::vector<NamedArgument> args {{"input", ref}};
            args.insert(args.end(), rest.begin(), rest.end());
            ref = op(std::string("quantized_decomposed.") + step + ".default", std::move(args),
                     std::string(step).starts_with("de") ? type : quantized);
        }
        return ref;
    }

    /// The same per channel along dimension 0, for a weight. The steps carry no type, as new nodes
    /// may not.
    ValueRef channelPair(ValueRef weight, const at::Tensor& scales, const std::string& name)
    {
        const ValueRef scale = held(name + "_scale", scales, NodeKind::Constant);
        const ValueRef zero = held(name + "_zero_point", at::zeros({scales.numel()}, at::kLong),
                                   NodeKind::Constant);
        ValueRef ref = weight;
        for (const char* step : {"quantize_per_channel", "dequantize_per_channel"})
            ref = op(std::string("quantized_decomposed.") + step + ".default",
                     {{"input", ref},
                      {"scales", scale},
                      {"zero_points", zero},
                      {"axis", 0},
                      {"quant_min", -128},
                      {"quant_max", 127},
                      {"dtype", DType::Int8}},
                     ValueType());
        return ref;
    }

    GraphPtr finish(const std::vector<Argument>& outputs)
    {
        Node out;
        out.kind = NodeKind::Output;
        out.name = "output";
        for (const Argument& value : outputs)
            out.args.push_back({"", value});
        m_edit.insert(std::move(out));
        m_edit.setInfo(m_info);
        return std::make_shared<const Graph>(m_edit.build());
    }

    ModelInfo& info() { return m_info; }
    GraphEdit& edit() { return m_edit; }

private:
    static std::string nameOf(const std::string& target)
    {
        const auto first = target.find('.');
        return target.substr(first + 1, target.find('.', first + 1) - first - 1);
    }

    static Node make(NodeKind kind, const std::string& name, const std::string& target,
                     std::vector<NamedArgument> args, const std::vector<ValueType>& types)
    {
        Node node;
        node.kind = kind;
        node.name = name;
        node.target = target;
        node.args = std::move(args);
        for (const ValueType& type : types)
            node.outputs.push_back({"", type});
        return node;
    }

    ValueRef add(NodeKind kind, const std::string& name, const std::string& target,
                 std::vector<NamedArgument> args, const std::vector<ValueType>& types)
    {
        return {m_edit.insert(make(kind, name, target, std::move(args), types)), 0};
    }

    GraphEdit m_edit;
    std::shared_ptr<TensorStore> m_store;
    ModelInfo m_info;
};

} // namespace qs
