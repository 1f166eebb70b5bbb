// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/compare/metrics/metrics.h"

#include <vector>

namespace qs {

/// Sums of one value's error by channel and by sample, batch after batch: memory follows from the
/// channels and, with some tens of bytes each, from the samples.
class ValueSums
{
public:
    struct Channel
    {
        ErrorSums sums;
        double low = 0, high = 0; ///< of the finite values of y
        bool any = false; ///< some value was finite
    };

    /// `axis`: of the channels; -1 for none. `samples`: of the batch. Both tensors on the CPU.
    Result<void> add(const ValuePair& values, int axis, std::int64_t samples);

    const std::vector<Channel>& channels() const { return m_channels; }
    /// By sample; empty if a batch's first dimension was not its samples: elements cannot be
    /// assigned then.
    const std::vector<ErrorSums>& samples() const { return m_samples; }

private:
    std::vector<Channel> m_channels;
    std::vector<ErrorSums> m_samples;
    bool m_separable = true;
};

/// True if a value's rows are the samples of a batch, or all of it is its one sample.
bool hasSamples(const at::Tensor& value, std::int64_t samples);

} // namespace qs
