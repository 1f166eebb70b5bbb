// SPDX-License-Identifier: Apache-2.0
#include "engine/blame/profile_sums.h"

#include "engine/values/channel_outliers.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

namespace qs {

namespace {

constexpr std::int64_t kMostBatches = 4; ///< further batches only update extremes
constexpr std::size_t kMostPositions = 4096; ///< for tokens; positions of pixels are not useful

std::vector<double> numbersOf(const at::Tensor& vector)
{
    const at::Tensor plain = vector.to(at::kCPU, at::kDouble).contiguous();
    const double* first = plain.const_data_ptr<double>();
    return {first, first + plain.numel()};
}

double medianOf(std::vector<double> numbers)
{
    const auto middle = numbers.begin() + std::ptrdiff_t(numbers.size() / 2);
    std::nth_element(numbers.begin(), middle, numbers.end());
    return *middle;
}

/// Returns all dimensions except one.
std::vector<std::int64_t> othersOf(const at::Tensor& values, int axis)
{
    std::vector<std::int64_t> others;
    for (std::int64_t d = 0; d < values.dim(); ++d)
        if (d != axis)
            others.push_back(d);
    return others;
}

} // namespace

void ProfileSums::add(const at::Tensor& value, const at::Tensor& noisy, int axis,
                      std::int64_t samples)
{
    if (axis < 0 || axis >= value.dim() || value.dim() < 2 || value.numel() == 0)
        return;
    const auto channels = std::size_t(value.size(axis));
    if (!m_low.empty() && m_low.size() != channels)
        return;
    const std::vector<std::int64_t> others = othersOf(value, axis);
    const auto [low, high] = addExtremes(value, axis, samples);
    m_low.resize(channels, std::numeric_limits<double>::infinity());
    m_high.resize(channels, -std::numeric_limits<double>::infinity());
    std::vector<double> largest(channels);
    for (std::size_t c = 0; c < channels; ++c) {
        m_low[c] = std::min(m_low[c], low[c]);
        m_high[c] = std::max(m_high[c], high[c]);
        largest[c] = std::max(-low[c], high[c]);
    }
    if (++m_batches > kMostBatches)
        return;
    const at::Tensor noise = noisy - value;
    const auto error = numbersOf(at::sum(noise, others, false, at::kDouble));
    const auto power = numbersOf(at::sum(at::square(noise), others, false, at::kDouble));
    const auto squares
        = numbersOf(at::sum(at::square(value.to(at::kFloat)), others, false, at::kDouble));
    for (auto* sums : {&m_wide, &m_squares, &m_error, &m_power})
        sums->resize(channels);
    const double median = medianOf(largest);
    for (std::size_t c = 0; c < channels; ++c) {
        m_wide[c] += median > 0 && largest[c] >= kWideRange * median;
        m_squares[c] += squares[c];
        m_error[c] += error[c];
        m_power[c] += power[c];
    }
    m_count += value.numel() / std::int64_t(channels);
    addPositions(at::abs(value), axis, samples);
}

std::pair<std::vector<double>, std::vector<double>>
ProfileSums::addExtremes(const at::Tensor& value, int axis, std::int64_t samples)
{
    std::vector<std::int64_t> others = othersOf(value, axis);
    m_hasSamples = m_hasSamples && axis != 0 && value.size(0) == samples;
    if (!m_hasSamples)
        return {numbersOf(at::amin(value, others)), numbersOf(at::amax(value, others))};
    // Reduce by sample and channel, so that the values are read once for both.
    others.erase(others.begin());
    const at::Tensor low = others.empty() ? value : at::amin(value, others);
    const at::Tensor high = others.empty() ? value : at::amax(value, others);
    const auto largest = numbersOf(at::amax(at::maximum(-low, high), 1));
    m_samples.insert(m_samples.end(), largest.begin(), largest.end());
    return {numbersOf(at::amin(low, 0)), numbersOf(at::amax(high, 0))};
}

void ProfileSums::addPositions(const at::Tensor& magnitudes, int axis, std::int64_t samples)
{
    if (!m_hasPositions || magnitudes.dim() < 3 || magnitudes.size(0) != samples || axis == 0) {
        m_hasPositions = false;
        return;
    }
    const at::Tensor places = at::amax(magnitudes, {0, axis}).reshape({-1});
    const auto count = std::size_t(places.numel());
    if (count > kMostPositions || (!m_positions.empty() && m_positions.size() != count)) {
        m_hasPositions = false;
        return;
    }
    const std::vector<double> largest = numbersOf(places);
    m_positions.resize(count);
    for (std::size_t i = 0; i < count; ++i)
        m_positions[i] = std::max(m_positions[i], largest[i]);
}

ValueProfile ProfileSums::result() const
{
    ValueProfile profile {{}, m_low, m_high, m_wide, m_squares, m_error, m_power, {}, {}};
    for (std::size_t c = 0; c < m_low.size(); ++c) {
        profile.channelMax.push_back(std::max(-m_low[c], m_high[c]));
        profile.channelWide[c] /= double(std::min(m_batches, kMostBatches));
        profile.meanSquare[c] /= double(m_count);
        profile.meanError[c] /= double(m_count);
        profile.errorPower[c] /= double(m_count);
    }
    if (m_hasPositions)
        profile.positionMax = m_positions;
    if (m_hasSamples)
        profile.sampleMax = m_samples;
    return profile;
}

} // namespace qs
