// SPDX-License-Identifier: Apache-2.0
#include "engine/train/optimizer.h"

#include <ATen/ATen.h>

namespace qs {

namespace {

constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kAdamEps = 1e-8;

} // namespace

Optimizer::Optimizer(OptimizerKind kind, std::vector<double> rates, double momentum)
    : m_kind(kind)
    , m_rates(std::move(rates))
    , m_momentum(momentum)
    , m_first(m_rates.size())
    , m_second(m_rates.size())
    , m_steps(m_rates.size())
{
}

void Optimizer::step(std::span<const at::Tensor> tensors, std::span<const at::Tensor> gradients,
                     double factor)
{
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        if (!gradients[i].defined())
            continue;
        const double rate = m_rates[i] * factor;
        const at::Tensor tensor = tensors[i].detach();
        const at::Tensor gradient = gradients[i].contiguous();
        const bool isFirst = !m_first[i].defined();
        if (m_kind == OptimizerKind::Sgd) {
            if (m_momentum == 0) {
                tensor.add_(gradient, -rate);
                continue;
            }
            m_first[i] = isFirst ? gradient.clone() : m_first[i].mul_(m_momentum).add_(gradient);
            tensor.add_(m_first[i], -rate);
            continue;
        }
        if (isFirst) {
            m_first[i] = at::zeros_like(tensor);
            m_second[i] = at::zeros_like(tensor);
            m_steps[i] = at::zeros({}, tensor.options().dtype(at::kFloat));
        }
        m_steps[i].add_(1);
        at::_fused_adam_({tensor}, {gradient}, {m_first[i]}, {m_second[i]}, {}, {m_steps[i]}, rate,
                         kBeta1, kBeta2, 0, kAdamEps, false, false);
    }
}

std::vector<at::Tensor> Optimizer::state() const
{
    std::vector<at::Tensor> made;
    for (const auto* part : {&m_first, &m_second, &m_steps})
        for (const at::Tensor& tensor : *part)
            made.push_back(tensor.defined() ? tensor.clone() : tensor);
    return made;
}

void Optimizer::setState(std::vector<at::Tensor> state)
{
    auto next = state.begin();
    for (auto* part : {&m_first, &m_second, &m_steps})
        for (at::Tensor& tensor : *part)
            tensor = std::move(*next++);
}

} // namespace qs
