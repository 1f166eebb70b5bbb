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

std::size_t OutputPowers::measured() const
{
    std::size_t count = 0;
    for (const double signal : m_signal)
        count += signal > 0;
    return count;
}

double OutputPowers::share() const
{
    double sum = 0;
    for (std::size_t i = 0; i < m_signal.size(); ++i)
        if (m_signal[i] > 0)
            sum += m_noise[i] / m_signal[i];
    return measured() ? sum / double(measured()) : 0;
}

} // namespace qs
