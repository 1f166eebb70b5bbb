// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph_edit.h"

#include <string>
#include <vector>

namespace qs {

/// Builds small graphs for planner tests: float tensors, names as given.
class GraphMaker
{
public:
    ValueRef input(const std::string& name, DType dtype = DType::Float32)
    {
        Node node;
        node.kind = NodeKind::Input;
        node.name = node.target = name;
        return add(std::move(node), dtype);
    }
    ValueRef parameter(const std::string& name)
    {
        Node node;
        node.kind = NodeKind::Parameter;
        node.name = node.target = name;
        return add(std::move(node), DType::Float32);
    }
    /// A call in a module: "torch.nn.Conv2d" at path "conv"; or a function by its torch_fn record.
    ValueRef op(const std::string& name, const std::string& target, std::vector<NamedArgument> args,
                const std::string& module = {}, const std::string& moduleClass = {},
                const std::string& torchFn = {})
    {
        Node node;
        node.name = name;
        node.target = target;
        node.args = std::move(args);
        node.scope.path = module;
        node.scope.moduleClass = moduleClass;
        node.torchFn = torchFn;
        edit.modules().add(module, moduleClass);
        return add(std::move(node), DType::Float32);
    }
    ValueRef conv(const std::string& name, ValueRef x)
    {
        return op(
            name, "aten.conv2d.default",
            {{"input", x}, {"weight", parameter(name + "_w")}, {"bias", parameter(name + "_b")}},
            name, "torch.nn.Conv2d", "builtin_function_or_method.conv2d");
    }
    ValueRef batchNorm(const std::string& name, ValueRef x)
    {
        return op(name, "aten.batch_norm.default",
                  {{"input", x},
                   {"weight", parameter(name + "_w")},
                   {"bias", parameter(name + "_b")},
                   {"running_mean", parameter(name + "_m")},
                   {"running_var", parameter(name + "_v")},
                   {"training", false}},
                  name, "torch.nn.BatchNorm2d", "function.batch_norm");
    }
    ValueRef linear(const std::string& name, ValueRef x)
    {
        return op(name, "aten.linear.default", {{"input", x}, {"weight", parameter(name + "_w")}},
                  name, "torch.nn.Linear", "builtin_function_or_method.linear");
    }
    ValueRef relu(const std::string& name, ValueRef x)
    {
        return op(name, "aten.relu.default", {{"self", x}}, name, "torch.nn.ReLU", "function.relu");
    }
    ValueRef method(const std::string& name, const std::string& word, ValueRef x)
    {
        return op(name, "aten." + word + ".default", {{"self", x}}, "", "Model",
                  "method_descriptor." + word);
    }
    ValueRef plus(const std::string& name, ValueRef a, Argument b)
    {
        return op(name, "aten.add.Tensor", {{"self", a}, {"other", std::move(b)}}, "", "Model",
                  "method_descriptor.add");
    }
    ValueRef cat(const std::string& name, const std::vector<ValueRef>& parts)
    {
        Argument::List list(parts.begin(), parts.end());
        return op(name, "aten.cat.default", {{"tensors", list}, {"dim", 1}}, "", "Model",
                  "builtin_function_or_method.cat");
    }
    Graph finish(const std::vector<ValueRef>& outputs)
    {
        Node node;
        node.kind = NodeKind::Output;
        node.name = "output";
        for (const ValueRef ref : outputs)
            node.args.push_back({"", ref});
        edit.insert(std::move(node));
        return edit.build();
    }
    GraphEdit edit;

private:
    ValueRef add(Node node, DType dtype)
    {
        Value value;
        value.name = node.name;
        value.type.dtype = dtype;
        node.outputs.push_back(value);
        return {edit.insert(std::move(node)), 0};
    }
};

} // namespace qs
