// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observations.h"
#include "engine/kernels/ops.h"

namespace qs {

/// A histogram whose range grows with the data, for display and what-if analysis. When the range
/// grows, each old bin's count moves to the new bin that contains its middle.
class FineHistogram
{
public:
    FineHistogram() = default;
    /// Continues from earlier counts.
    explicit FineHistogram(Histogram counted)
        : m_histogram(std::move(counted))
    {
    }
    /// Adds an observation, over a range that may have grown.
    void add(const Observed& seen);
    /// Number of bins.
    static constexpr std::int32_t kBins = kFineBins;
    const Histogram& histogram() const { return m_histogram; }

private:
    Histogram m_histogram;
};

} // namespace qs
