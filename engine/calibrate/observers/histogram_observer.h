// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observers/counting_observer.h"

namespace qs {

/// torch.ao's HistogramObserver (torch 2.11): float32 counts over the range seen so far. When the
/// range grows, each old bin is divided into 16 parts, which are distributed to the new bins. The
/// state equals torch.ao's exactly for the same values and number of threads.
class HistogramObserver : public CountingObserver
{
public:
    using CountingObserver::CountingObserver;

protected:
    Known known() const override;
    void learn(const at::Tensor& x, const Observed& seen) override;
    void fill(ObserverStats& stats) const override;
    void take(ObserverStats& stats) override { m_counts = std::move(stats.exact.counts); }

private:
    std::vector<float> m_counts;
};

} // namespace qs
