// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observers/counting_observer.h"
#include "engine/calibrate/observers/fine_histogram.h"

namespace qs {

/// torch.ao's MinMaxObserver: the extremes of all values.
class MinMaxObserver : public CountingObserver
{
public:
    using CountingObserver::CountingObserver;

protected:
    Known known() const override;
    void learn(const at::Tensor& x, const Observed& seen) override;
    void fill(ObserverStats& stats) const override { stats.fine = m_fine.histogram(); }
    void take(ObserverStats& stats) override { m_fine = FineHistogram(std::move(stats.fine)); }
    /// Updates the state with one batch's extremes.
    virtual void update(const kernels::MinMax& batch);

private:
    FineHistogram m_fine;
};

/// torch.ao's MovingAverageMinMaxObserver: moving averages of the batches' extremes.
class MovingAverageObserver : public MinMaxObserver
{
public:
    using MinMaxObserver::MinMaxObserver;

protected:
    void update(const kernels::MinMax& batch) override;
};

/// One step of a moving average in float32, rounded after each operation as in torch.ao.
float movingAverage(float state, float current, double constant);

} // namespace qs
