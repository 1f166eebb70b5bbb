// SPDX-License-Identifier: Apache-2.0
#include "engine/blame/output_powers.h"

#include <ATen/ATen.h>

namespace qs {

namespace {

double powerOf(const at::Tensor& values)
{
    return at::square(values.detach().to(at::kDouble)).sum().item<double>();
}

bool isSignal(const at::Tensor& output)
{
    return output.defined() && output.is_floating_point();
}

} // namespace

void OutputPowers::addSignal(const std::vector<at::Tensor>& outputs)
{
    m_signal.resize(outputs.size());
    m_noise.resize(outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i)
        if (isSignal(outputs[i]))
            m_signal[i] += powerOf(outputs[i]);
}

void OutputPowers::addNoise(const std::vector<at::Tensor>& outputs,
                            const std::vector<at::Tensor>& noisy)
{
    m_noise.resize(outputs.size());
    for (std::size_t i = 0; i < outputs.size() && i < noisy.size(); ++i)
        if (isSignal(outputs[i]) && isSignal(noisy[i]) && outputs[i].sizes() == noisy[i].sizes())
            m_noise[i] += powerOf(noisy[i].to(at::kDouble) - outputs[i].to(at::kDouble));
}

double OutputPowers::weightOf(std::size_t output) const
{
    const double given = output < m_weights.size() ? m_weights[output] : m_weights.empty() ? 1 : 0;
    return m_signal[output] > 0 ? given : 0;
}

double OutputPowers::weight(std::size_t output) const
{
    double all = 0;
    for (std::size_t i = 0; i < m_signal.size(); ++i)
        all += weightOf(i);
    return all > 0 ? weightOf(output) / all : 0;
}

double OutputPowers::share() const
{
    double sum = 0;
    for (std::size_t i = 0; i < m_signal.size(); ++i)
        if (const double part = weight(i); part > 0)
            sum += part * m_noise[i] / m_signal[i];
    return sum;
}

} // namespace qs
