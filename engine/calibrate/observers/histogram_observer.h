// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observers/counting_observer.h"

namespace qs {

/// torch.ao's HistogramObserver (torch 2.11): float32 counts over the range seen so far; when the
/// range grows, old counts are cut into 16 parts a bin and dealt to the new bins. The state follows
/// torch.ao's exactly for the same values and number of threads.
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
