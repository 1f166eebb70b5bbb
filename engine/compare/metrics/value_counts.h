// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace qs {

/// Histograms of the values of one unit in the float and in the converted model, with a common
/// grid: `kBins` equal bins from the least to the greatest finite value of the float model in the
/// first batch (`kernels::histogramBin`), and one more bin for values outside and NaN. If a result
/// has more than `kMostOfBatch` elements in a batch, about that many are counted, evenly spaced and
/// the same in both models. A value.
struct ValueCounts
{
    /// A bin covers two steps of a 7-bit quantizer; finer bins would show its steps.
    static constexpr std::int32_t kBins = 64;
    static constexpr std::int64_t kMostOfBatch = std::int64_t(1) << 17;
    using Bins = std::array<std::uint64_t, kBins + 1>;

    bool hasGrid = false; ///< some value was finite
    float low = 0, high = 0; ///< the grid's edges
    Bins floating {}, converted {};
    friend bool operator==(const ValueCounts&, const ValueCounts&) = default;
};

/// The Kullback-Leibler divergence, in nats, of the float model's values P from the converted
/// model's Q: the sum of P ln(P / Q). Half a count is added to every bin of both (Krichevsky and
/// Trofimov), so that it is finite, and 0 for equal distributions. Empty if nothing was
/// counted.
std::optional<double> divergence(const ValueCounts& counts);

} // namespace qs
