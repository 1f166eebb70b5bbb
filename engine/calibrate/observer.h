// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observations.h"
#include "engine/kernels/min_max.h"

#include <ATen/core/Tensor.h>

namespace qs {

/// Watches one value (or several that share it) over a calibration and keeps torch.ao's state of
/// its kind. One thread at a time. Kinds are made by `makeObserver`.
class Observer
{
public:
    Observer(ObserverId id, const ObserverSpec& spec);
    virtual ~Observer() = default;
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;

    /// Looks at one tensor, of any device, type and strides; what is not float32 is seen as
    /// float32. An empty tensor changes nothing. Returns how many of its values are NaN or Inf.
    /// Throws what LibTorch throws (a channel axis that does not exist, another number of
    /// channels): call under guardTorch.
    std::int64_t observe(const at::Tensor& x);

    /// All that was seen so far.
    ObserverStats stats() const;
    /// Goes on from what an observer of the same spec told with `stats`.
    void restore(ObserverStats stats);

protected:
    /// One float32 tensor that is not empty; returns its extremes and updates `m_stats`.
    virtual kernels::MinMax see(const at::Tensor& x) = 0;
    /// Completes what `see` does not keep in `m_stats` all the time.
    virtual void fill(ObserverStats& stats) const { (void)stats; }
    /// Takes back what `fill` told.
    virtual void take(ObserverStats& stats) { (void)stats; }

    ObserverStats m_stats;
};

} // namespace qs
