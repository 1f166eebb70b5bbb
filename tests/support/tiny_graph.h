// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/execute/tensor_store.h"
#include "engine/execute/torch_types.h"
#include "engine/graph/graph_edit.h"

#include <ATen/ATen.h>

#include <memory>
#include <string>
#include <vector>

namespace qs::test {

/// Builds small float graphs with weights, as import would have made them.
class TinyGraph
{
public:
    TinyGraph() { m_edit.setTensors(std::make_shared<TensorStore>()); }

    ValueRef input(const std::string& name, const std::vector<std::int64_t>& shape)
    {
        Node node;
        node.kind = NodeKind::Input;
        node.name = node.target = name;
        node.outputs.push_back({"", type(shape)});
        return {m_edit.insert(std::move(node)), 0};
    }
    ValueRef parameter(const std::string& path, const at::Tensor& tensor)
    {
        Node node;
        node.kind = NodeKind::Parameter;
        node.name = "p_" + path;
        for (char& c : node.name)
            c = c == '.' ? '_' : c;
        node.target = path;
        node.tensor = tensorsOf(m_edit)->add(tensor);
        node.outputs.push_back({"", type(tensor.sizes().vec())});
        return {m_edit.insert(std::move(node)), 0};
    }
    ValueRef op(const std::string& target, std::vector<NamedArgument> args,
                const std::vector<std::int64_t>& shape, int outputs = 1)
    {
        Node node;
        node.target = target;
        node.name = target.substr(5, target.rfind('.') - 5);
        node.args = std::move(args);
        for (int i = 0; i < outputs; ++i)
            node.outputs.push_back({"", type(shape)});
        return {m_edit.insert(std::move(node)), 0};
    }
    /// Makes a value a symbolic integer instead of a tensor.
    void makeSize(ValueRef ref)
    {
        ValueType type;
        type.kind = ValueKind::SymInt;
        m_edit.change(ref.node).outputs.at(ref.index).type = type;
    }
    GraphPtr finish(const std::vector<ValueRef>& outputs)
    {
        Node node;
        node.kind = NodeKind::Output;
        node.name = "output";
        for (ValueRef ref : outputs)
            node.args.push_back({"", ref});
        m_edit.insert(std::move(node));
        return std::make_shared<const Graph>(m_edit.build());
    }

private:
    static ValueType type(const std::vector<std::int64_t>& shape)
    {
        ValueType type;
        type.dtype = DType::Float32;
        type.shapeKnown = true;
        for (std::int64_t size : shape)
            type.shape.push_back(Dim::fixed(size));
        return type;
    }
    GraphEdit m_edit;
};

inline Argument ints(const std::vector<std::int64_t>& values)
{
    Argument::List list;
    for (std::int64_t value : values)
        list.emplace_back(value);
    return list;
}

} // namespace qs::test
