// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/values/value_inspection.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace qs {

/// Collects the finite values of the channels of one value, for their quantiles. Exact up to
/// `kExactValues` values over all channels. Above, each channel has a histogram of `kBins` bins, in
/// which a quantile is off by at most `kBinError` of the channel's range.
class ChannelQuantiles
{
public:
    static constexpr std::int64_t kExactValues = std::int64_t(1) << 22;
    static constexpr std::int64_t kBins = 1024;
    static constexpr double kBinError = 2.0 / double(kBins - 1);

    /// `exactValues`: the number up to which quantiles are exact.
    explicit ChannelQuantiles(std::int64_t exactValues = kExactValues)
        : m_exactValues(exactValues)
    {
    }
    /// Adds `count` values of a channel.
    void add(std::size_t channel, const float* values, std::int64_t count);
    /// The quantiles of a channel; nullopt if it has no finite value.
    std::optional<Quantiles> quantiles(std::size_t channel) const;

private:
    /// Counts in bins whose width is a power of two and whose edges are multiples of it. So when
    /// the range grows, pairs of bins merge and the counts remain exact.
    struct Bins
    {
        int exponent = 0; ///< the width is 2^exponent
        double perWidth = 1; ///< one over the width
        std::int64_t first = 0; ///< multiple of the width at which the first bin begins
        std::int64_t low = 0, high = -1; ///< the outermost multiples with values
        double min = 0, max = 0;
        std::vector<std::int64_t> counts;

        explicit Bins(const std::vector<float>& values);
        void add(double value);
        void setExponent(int to);
        std::int64_t binOf(double value) const;
        /// Merges and moves bins until one begins at this multiple of the width before.
        void makeRoom(std::int64_t at);
        /// The value at a position in ascending order, from 0.
        double at(std::int64_t position) const;
        std::int64_t count() const;
    };
    void toBins();

    std::vector<std::vector<float>> m_values; ///< by channel; empty once there are bins
    std::vector<Bins> m_bins; ///< by channel
    std::int64_t m_exactValues;
    std::int64_t m_count = 0;
};

} // namespace qs
