// SPDX-License-Identifier: Apache-2.0
#include "engine/blame/slope_sums.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr std::size_t kSlopeBins = 4096; ///< even: zero is at an edge

/// Doubles the range: merges pairs of bins into the middle half.
void widen(std::vector<double>& bins)
{
    std::vector<double> wider(bins.size());
    for (std::size_t i = 0; i < bins.size(); ++i)
        wider[bins.size() / 4 + i / 2] += bins[i];
    bins = std::move(wider);
}

} // namespace

void SlopeSums::reach(double magnitude)
{
    if (m_slopes.counts.empty()) {
        m_slopes.counts.resize(kSlopeBins);
        m_slopes.squares.resize(kSlopeBins);
        m_slopes.reach = std::exp2(std::ceil(std::log2(magnitude)));
    }
    for (; m_slopes.reach < magnitude; m_slopes.reach *= 2) {
        widen(m_slopes.counts);
        widen(m_slopes.squares);
    }
}

void SlopeSums::add(const at::Tensor& value, const at::Tensor& gradient)
{
    if (value.numel() == 0)
        return;
    const auto plain
        = [](const at::Tensor& tensor) { return tensor.to(at::kCPU, at::kFloat).contiguous(); };
    const at::Tensor values = plain(value), slopes = plain(gradient);
    const double magnitude = at::abs(values).max().item<double>();
    if (!std::isfinite(magnitude))
        return;
    reach(std::max(magnitude, 1e-30));
    const float* v = values.const_data_ptr<float>();
    const float* g = slopes.const_data_ptr<float>();
    const double perBin = double(kSlopeBins) / (2 * m_slopes.reach);
    for (std::int64_t i = 0; i < values.numel(); ++i) {
        const auto bin
            = std::min(kSlopeBins - 1, std::size_t((double(v[i]) + m_slopes.reach) * perBin));
        m_slopes.counts[bin] += 1;
        m_slopes.squares[bin] += double(g[i]) * double(g[i]);
    }
}

} // namespace qs
