// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/graph_edit.h"
#include "tests/support/fake_engine.h"

namespace qs {

namespace {

ValueType tensor(const std::vector<std::int64_t>& sizes)
{
    ValueType type;
    type.dtype = DType::Float32;
    type.shapeKnown = true;
    for (const auto size : sizes)
        type.shape.push_back(Dim::fixed(size));
    return type;
}

/// Appends nodes that read the named values.
class Builder
{
public:
    Builder() { m_edit.modules().add("", "tests.Net"); }

    ValueRef input(const std::string& name)
    {
        Node node;
        node.kind = NodeKind::Input;
        node.name = node.target = name;
        node.outputs = {{name, tensor({8, 3, 16, 16})}};
        return {m_edit.insert(std::move(node)), 0};
    }

    ValueRef parameter(const std::string& path, const std::vector<std::int64_t>& sizes)
    {
        Node node;
        node.kind = NodeKind::Parameter;
        node.target = path;
        node.name = "p_" + path;
        for (char& c : node.name)
            c = c == '.' ? '_' : c;
        node.outputs = {{node.name, tensor(sizes)}};
        m_edit.modules().addParameter(path);
        return {m_edit.insert(std::move(node)), 0};
    }

    ValueRef op(const std::string& name, const std::string& target, const std::string& module,
                const std::string& moduleClass, const std::vector<ValueRef>& args)
    {
        Node node;
        node.name = name;
        node.target = target;
        node.scope = {module, moduleClass, 0};
        if (!module.empty())
            m_edit.modules().add(module, moduleClass);
        static const char* const names[] = {"input", "weight", "bias", "other"};
        for (std::size_t i = 0; i < args.size(); ++i)
            node.args.push_back({names[i], Argument(args[i])});
        node.outputs = {{name, tensor({8, 16, 16, 16})}};
        node.source = {"/models/net.py", 12, "forward", "out = self." + module + "(x)"};
        return {m_edit.insert(std::move(node)), 0};
    }

    ValueRef convolution(const std::string& name, const std::string& module, ValueRef input)
    {
        const ValueRef weight = parameter(module + ".weight", {16, 3, 3, 3});
        return op(name, "aten.conv2d.default", module, "torch.nn.Conv2d", {input, weight});
    }

    GraphPtr finish(ValueRef value, const std::string& path = "/models/net.pt2")
    {
        Node out;
        out.kind = NodeKind::Output;
        out.name = "output";
        out.args = {{"output", Argument(value)}};
        m_edit.insert(std::move(out));
        ModelInfo info;
        info.path = path;
        info.name = "Net";
        m_edit.setInfo(info);
        return std::make_shared<const Graph>(m_edit.build());
    }

private:
    GraphEdit m_edit;
};

} // namespace

GraphPtr fakeModel(const std::string& file)
{
    Builder b;
    const ValueRef x = b.input("x");
    const auto stem = [&b](const std::string& suffix, const std::string& path, ValueRef in) {
        const ValueRef conv = b.convolution(
            "conv2d" + suffix, path + "conv" + (path.empty() || suffix == "_1" ? "1" : "2"), in);
        return b.op("batch_norm" + suffix, "aten.batch_norm.default",
                    path + "bn" + (path.empty() || suffix == "_1" ? "1" : "2"),
                    "torch.nn.BatchNorm2d", {conv});
    };
    const auto relu = [&b](const std::string& name, const std::string& path, ValueRef in) {
        return b.op(name, "aten.relu.default", path, "torch.nn.ReLU", {in});
    };
    const ValueRef first = relu("relu", "relu", stem("", "", x));
    const ValueRef second = relu("relu_1", "block.relu1", stem("_1", "block.", first));
    const ValueRef third = stem("_2", "block.", second);
    const ValueRef sum = b.op("add", "aten.add.Tensor", "block", "tests.Block", {third, first});
    const ValueRef out = relu("relu_2", "block.relu2", sum);
    const ValueRef pooled = b.op("adaptive_avg_pool2d", "aten.adaptive_avg_pool2d.default", "pool",
                                 "torch.nn.AdaptiveAvgPool2d", {out});
    const ValueRef flat = b.op("flatten", "aten.flatten.using_ints", "", "tests.Net", {pooled});
    const ValueRef weight = b.parameter("fc.weight", {10, 16});
    return b.finish(b.op("linear", "aten.linear.default", "fc", "torch.nn.Linear", {flat, weight}),
                    file);
}

GraphPtr fakeChain(int length)
{
    Builder b;
    ValueRef value = b.input("x");
    for (int i = 0; i < length; ++i)
        value = b.op("relu", "aten.relu.default", "", "tests.Net", {value});
    return b.finish(value);
}

} // namespace qs
