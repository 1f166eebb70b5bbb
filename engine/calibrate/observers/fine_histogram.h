// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observations.h"
#include "engine/kernels/ops.h"

namespace qs {

/// A histogram whose range grows with the data, for display and what-if: when the range grows, old
/// counts move to the bin of their old bin's middle.
class FineHistogram
{
public:
    FineHistogram() = default;
    /// Goes on from counts made before.
    explicit FineHistogram(Histogram counted)
        : m_histogram(std::move(counted))
    {
    }
    /// Adds an observation over its range, which may have grown.
    void add(const Observed& seen);
    /// Bins of every such histogram.
    static constexpr std::int32_t kBins = kFineBins;
    const Histogram& histogram() const { return m_histogram; }

private:
    Histogram m_histogram;
};

} // namespace qs
