// SPDX-License-Identifier: Apache-2.0
#include "engine/values/channel_quantiles.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace qs {

namespace {

constexpr std::array kShares {0.01, 0.25, 0.5, 0.75, 0.99};
/// Bits by which the first bins are finer than the first value: more than a float has.
constexpr int kFineBits = 40;
/// Every float is a multiple of 2 to this power.
constexpr int kLeastExponent = -149;
constexpr double kGreatestIndex = 0x1p52;

/// Returns the quantiles of `count` ascending values by NumPy's default, linear interpolation.
/// `valueAt` is called with ascending positions.
template<class ValueAt>
Quantiles interpolated(std::int64_t count, const ValueAt& valueAt)
{
    std::array<double, kShares.size()> found {};
    for (std::size_t i = 0; i < kShares.size(); ++i) {
        const double place = kShares[i] * double(count - 1);
        const auto below = std::int64_t(std::floor(place));
        const double part = place - double(below);
        const double low = valueAt(below);
        const double high = valueAt(std::min(below + 1, count - 1));
        const double step = high - low;
        found[i] = part >= 0.5 ? high - step * (1 - part) : low + step * part;
    }
    Quantiles out;
    out.p1 = found[0];
    out.q1 = found[1];
    out.median = found[2];
    out.q3 = found[3];
    out.p99 = found[4];
    return out;
}

} // namespace

ChannelQuantiles::Bins::Bins(const std::vector<float>& values)
    : counts(std::size_t(kBins))
{
    for (const float value : values)
        add(double(value));
}

void ChannelQuantiles::Bins::add(double value)
{
    if (low > high) {
        min = max = value;
        setExponent(value == 0 ? kLeastExponent
                               : std::max(std::ilogb(value) - kFineBits, kLeastExponent));
        low = high = binOf(value);
        first = low - kBins / 2;
        ++counts[std::size_t(kBins / 2)];
        return;
    }
    min = std::min(min, value);
    max = std::max(max, value);
    while (std::abs(value * perWidth) > kGreatestIndex) // far beyond the others
        makeRoom(2 * (std::abs(low) + std::abs(high) + kBins));
    std::int64_t at = binOf(value);
    if (at < first || at >= first + kBins) {
        makeRoom(at);
        at = binOf(value);
    }
    low = std::min(low, at);
    high = std::max(high, at);
    ++counts[std::size_t(at - first)];
}

void ChannelQuantiles::Bins::setExponent(int to)
{
    exponent = to;
    perWidth = std::ldexp(1.0, -to);
}

std::int64_t ChannelQuantiles::Bins::binOf(double value) const
{
    return std::int64_t(std::floor(value * perWidth));
}

void ChannelQuantiles::Bins::makeRoom(std::int64_t at)
{
    int merges = 0;
    const auto merged = [&](std::int64_t index) { return index >> merges; };
    while (merged(std::max(high, at)) - merged(std::min(low, at)) >= kBins)
        ++merges;
    const std::int64_t begin = merged(std::min(low, at));
    std::vector<std::int64_t> moved(std::size_t(kBins), 0);
    for (std::int64_t index = low; index <= high; ++index)
        moved[std::size_t(merged(index) - begin)] += counts[std::size_t(index - first)];
    counts = std::move(moved);
    low = merged(low);
    high = merged(high);
    first = begin;
    setExponent(exponent + merges);
}

std::int64_t ChannelQuantiles::Bins::count() const
{
    return std::accumulate(counts.begin(), counts.end(), std::int64_t(0));
}

double ChannelQuantiles::Bins::at(std::int64_t position) const
{
    std::int64_t before = 0;
    for (std::int64_t index = low; index <= high; ++index) {
        const std::int64_t here = counts[std::size_t(index - first)];
        if (position < before + here) {
            const double part = (double(position - before) + 0.5) / double(here);
            return std::clamp(std::ldexp(double(index) + part, exponent), min, max);
        }
        before += here;
    }
    return max;
}

void ChannelQuantiles::add(std::size_t channel, const float* values, std::int64_t count)
{
    if (!m_bins.empty()) {
        while (m_bins.size() <= channel)
            m_bins.emplace_back(std::vector<float>());
        for (std::int64_t i = 0; i < count; ++i)
            if (std::isfinite(values[i]))
                m_bins[channel].add(double(values[i]));
        return;
    }
    m_values.resize(std::max(m_values.size(), channel + 1));
    std::copy_if(values, values + count, std::back_inserter(m_values[channel]),
                 [](float value) { return std::isfinite(value); });
    m_count += count;
    if (m_count > m_exactValues)
        toBins();
}

void ChannelQuantiles::toBins()
{
    for (std::vector<float>& values : m_values) {
        m_bins.emplace_back(values);
        values = {};
    }
    m_values.clear();
}

std::optional<Quantiles> ChannelQuantiles::quantiles(std::size_t channel) const
{
    if (channel < m_bins.size()) {
        const Bins& bins = m_bins[channel];
        const std::int64_t count = bins.count();
        if (count == 0)
            return std::nullopt;
        Quantiles out = interpolated(count, [&](std::int64_t at) { return bins.at(at); });
        out.error = kBinError * (bins.max - bins.min);
        return out;
    }
    if (channel >= m_values.size() || m_values[channel].empty())
        return std::nullopt;
    std::vector<float> values = m_values[channel];
    auto begin = values.begin(); // values before are in order
    return interpolated(std::int64_t(values.size()), [&](std::int64_t at) {
        const auto place = values.begin() + at;
        if (place >= begin) {
            std::nth_element(begin, place, values.end());
            begin = place + 1;
        }
        return double(*place);
    });
}

} // namespace qs
