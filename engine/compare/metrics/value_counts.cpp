// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/metrics/value_counts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace qs {

namespace {

constexpr double kPseudoCount = 0.5;

double totalOf(const ValueCounts::Bins& bins)
{
    return double(std::accumulate(bins.begin(), bins.end(), std::uint64_t(0)));
}

} // namespace

std::optional<double> divergence(const ValueCounts& counts)
{
    const double p = totalOf(counts.floating), q = totalOf(counts.converted);
    if (p == 0 || q == 0)
        return std::nullopt;
    const double added = kPseudoCount * double(counts.floating.size());
    double sum = 0;
    for (std::size_t i = 0; i < counts.floating.size(); ++i) {
        const double share = (double(counts.floating[i]) + kPseudoCount) / (p + added);
        const double other = (double(counts.converted[i]) + kPseudoCount) / (q + added);
        sum += share * std::log(share / other);
    }
    return std::max(0.0, sum); // negative only by rounding
}

} // namespace qs
