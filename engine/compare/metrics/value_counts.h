// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace qs {

/// How the values of one unit are spread in the float and in the converted model, over one grid:
/// `kBins` equal bins from the least to the greatest finite value that the float model has in the
/// first batch (bins as `kernels::histogramBin` makes them), and one more for all that lies outside
/// or is NaN. Of a result with more than `kMostOfBatch` elements in a batch about as many are
/// counted, evenly spread, the same in both models. A value.
struct ValueCounts
{
    /// Few enough that a bin holds two steps of seven bits: finer ones would count the steps.
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
