// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/compare/metrics/sample_sums.h"
#include "engine/values/channel_quantiles.h"

#include <vector>

namespace qs {

/// Accumulates one value's error by channel and by sample over batches. Memory: per channel, some
/// tens of bytes per sample, and up to 16 MiB of values for exact quantiles.
class ValueSums
{
public:
    struct Channel
    {
        ErrorSums sums;
        double low = 0, high = 0; ///< range of the finite values of y
        bool any = false; ///< at least one value was finite
    };

    /// Adds a batch. `axis`: channel dimension; -1 = none. `samples`: number in the batch. Both
    /// tensors on the CPU.
    Result<void> add(const ValuePair& values, int axis, std::int64_t samples);

    const std::vector<Channel>& channels() const { return m_channels; }
    /// Of y.
    std::optional<Quantiles> quantiles(std::size_t channel) const
    {
        return m_quantiles.quantiles(channel);
    }
    /// Sums by sample; empty if the first dimension of any batch was not the sample.
    const std::vector<ErrorSums>& samples() const { return m_samples; }

private:
    std::vector<Channel> m_channels;
    ChannelQuantiles m_quantiles;
    std::vector<ErrorSums> m_samples;
    bool m_separable = true;
};

} // namespace qs
