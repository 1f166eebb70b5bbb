// SPDX-License-Identifier: Apache-2.0
#include "engine/values/value_sums.h"

#include "engine/kernels/min_max.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

/// Returns the value as contiguous [rows, channels, elements].
at::Tensor byChannel(const at::Tensor& value, int axis)
{
    const at::Tensor x = value.to(at::kFloat);
    if (x.dim() == 0)
        return x.reshape({1, 1, 1});
    if (axis < 1)
        return x.reshape({x.size(0), 1, -1}).contiguous();
    return x.movedim(axis, 1).reshape({x.size(0), x.size(axis), -1}).contiguous();
}

bool isFiniteSum(const ErrorSums& sums)
{
    return std::isfinite(sums.signal2) && std::isfinite(sums.other2) && std::isfinite(sums.noise2);
}

void include(ValueSums::Channel& channel, const kernels::MinMax& range)
{
    if (range.min > range.max)
        return;
    channel.low = channel.any ? std::min(channel.low, double(range.min)) : double(range.min);
    channel.high = channel.any ? std::max(channel.high, double(range.max)) : double(range.max);
    channel.any = true;
}

} // namespace

Result<void> ValueSums::add(const ValuePair& values, int axis, std::int64_t samples)
{
    if (values.first.numel() == 0)
        axis = -1; // an empty tensor cannot be reshaped
    m_separable = m_separable && hasSamples(values.first, samples);
    const std::size_t before = m_samples.size();
    if (m_separable)
        m_samples.resize(before + std::size_t(samples));
    else
        m_samples.clear();
    if (values.first.numel() == 0)
        return {};
    const at::Tensor y = byChannel(values.first, axis), other = byChannel(values.second, axis);
    const std::int64_t rows = y.size(0), channels = y.size(1), elements = y.size(2);
    m_channels.resize(std::max(m_channels.size(), std::size_t(channels)));
    const float *signal = y.const_data_ptr<float>(), *made = other.const_data_ptr<float>();
    for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t c = 0; c < channels; ++c) {
            const std::int64_t at = (row * channels + c) * elements;
            ErrorSums sums = kernels::errorSumsCpu(signal + at, made + at, elements, 1);
            if (!isFiniteSum(sums)) {
                sums = {};
                QS_CHECK(addError(sums, y[row][c], other[row][c]));
            }
            Channel& channel = m_channels[std::size_t(c)];
            kernels::merge(channel.sums, sums);
            include(channel, kernels::minMaxCpu(signal + at, elements, 1));
            m_quantiles.add(std::size_t(c), signal + at, elements);
            if (m_separable)
                kernels::merge(m_samples[before + std::size_t(samples == 1 ? 0 : row)], sums);
        }
    return {};
}

} // namespace qs
