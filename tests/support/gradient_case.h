// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/autograd/gradient_scope.h"
#include "engine/execute/gradients/gradients.h"
#include "engine/execute/tensor_store.h"
#include "tests/support/graph_text_case.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

namespace qs::test {

using Tensors = std::vector<at::Tensor>;

/// Parses a graph in notation; its parameters are the tensors 1, 2, ...
inline GraphPtr parsed(const QString& notation, const Tensors& tensors = {})
{
    auto store = std::make_shared<TensorStore>();
    for (const at::Tensor& tensor : tensors)
        store->add(tensor);
    GraphEdit edit(GraphText().read(notation));
    edit.setTensors(store);
    return std::make_shared<const Graph>(edit.build());
}

inline ValueRef valueNamed(const Graph& graph, const std::string& name)
{
    for (const NodePtr& node : graph.nodes())
        for (std::uint32_t i = 0; i < node->outputs.size(); ++i)
            if (node->outputs[i].name == name)
                return {node->id, i};
    qFatal("no value %s", name.c_str());
}

inline std::vector<ValueRef> valuesNamed(const Graph& graph, const std::vector<std::string>& names)
{
    std::vector<ValueRef> values;
    for (const std::string& name : names)
        values.push_back(valueNamed(graph, name));
    return values;
}

/// Values and gradients of a run by site and probe. A gradient is undefined if nothing flows into
/// it.
struct Seen
{
    std::map<std::pair<std::size_t, int>, at::Tensor> values, gradients;
    std::size_t segments = 0, keptBytes = 0;
    const at::Tensor& gradient(std::size_t site, int probe = 0) const
    {
        return gradients.at({site, probe});
    }
};

/// Returns cotangents of ones times (probe + 1) for every output.
inline Result<Tensors> onesTimesProbe(int probe, std::span<const at::Tensor> outputs)
{
    Tensors cotangents;
    for (const at::Tensor& output : outputs)
        cotangents.push_back(at::ones_like(output) * (probe + 1));
    return cotangents;
}

inline Gradients made(const GraphPtr& graph, GradientRequest request)
{
    const auto interpreter = Interpreter::create(graph);
    auto gradients = Gradients::create(*interpreter, std::move(request));
    if (!gradients)
        qFatal("%s", gradients.error().line().c_str());
    return *std::move(gradients);
}

inline Seen runOf(Gradients& gradients, const Tensors& inputs, int probes = 1,
                  const Cotangents& cotangents = onesTimesProbe)
{
    Seen seen;
    const auto see = [&](std::size_t site, int probe, const at::Tensor& value,
                         const at::Tensor& gradient, const Frame&) -> Result<void> {
        if (!seen.gradients.emplace(std::pair(site, probe), gradient).second)
            qFatal("site %zu was seen twice", site);
        seen.values[{site, probe}] = value;
        return {};
    };
    const auto done = gradients.run({inputs.begin(), inputs.end()}, probes, cotangents, see);
    if (!done)
        qFatal("%s", done.error().line().c_str());
    seen.segments = gradients.segments();
    seen.keptBytes = gradients.keptBytes();
    return seen;
}

/// Returns LibTorch's gradients. `function` returns the sum of the outputs and fills the tensors to
/// differentiate.
inline Tensors autogradOf(const std::function<at::Tensor(Tensors&)>& function)
{
    const GradientScope scope;
    Tensors sites;
    const at::Tensor sum = function(sites);
    return torch::autograd::grad({sum}, sites, {at::ones_like(sum)}, false, false, true);
}

inline at::Tensor asksFor(const at::Tensor& tensor)
{
    return tensor.detach().clone().set_requires_grad(true);
}

inline bool isClose(const at::Tensor& wanted, const at::Tensor& got)
{
    if (!wanted.defined() || !got.defined())
        return wanted.defined() == got.defined();
    return wanted.sizes() == got.sizes()
        && (wanted - got).norm().item<double>() <= 1e-6 * wanted.norm().item<double>();
}

/// `layers` residual layers of linear and tanh: `y0`, `t0`, and the sum `s0` ...
inline GraphPtr deepGraph(int layers, std::int64_t width)
{
    at::manual_seed(3);
    QString text = QString("x: float32[8, %1] = input\n").arg(width);
    Tensors weights;
    for (int i = 0; i < layers; ++i) {
        text += QString("w%1: float32[%2, %2] = parameter tensor=%3\n"
                        "y%1: float32[8, %2] = aten.linear.default(input=%%4, weight=%w%1)\n"
                        "t%1: float32[8, %2] = aten.tanh.default(self=%y%1)\n"
                        "s%1: float32[8, %2] = aten.add.Tensor(self=%t%1, other=%%4)\n")
                    .arg(i)
                    .arg(width)
                    .arg(i + 1)
                    .arg(i == 0 ? QString("x") : "s" + QString::number(i - 1));
        weights.push_back(at::randn({width, width}) / std::sqrt(double(width)));
    }
    return parsed(text + QString("return %s%1\n").arg(layers - 1), weights);
}

inline std::vector<std::string> deepSites(int layers)
{
    std::vector<std::string> names {"x"};
    for (int i = 0; i < layers; ++i)
        for (const char* kind : {"w", "y", "t", "s"})
            names.push_back(kind + std::to_string(i));
    return names;
}

} // namespace qs::test
