// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observations.h"
#include "engine/kernels/ops.h"

#include <ATen/core/Tensor.h>

#include <limits>

namespace qs {

/// Bounds to which values are clamped.
struct Bounds
{
    float low = -std::numeric_limits<float>::infinity();
    float high = std::numeric_limits<float>::infinity();
};

/// Observes one value (or several that share the observer) during a calibration, with the state of
/// torch.ao's observer of its kind. One thread at a time. Created by `makeObserver`.
class Observer
{
public:
    Observer(ObserverId id, const ObserverSpec& spec);
    virtual ~Observer() = default;
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;

    /// Observes one tensor, of any device, type and strides, as float32. An empty tensor has no
    /// effect. Returns the number of NaN and Inf. Throws LibTorch's exceptions (invalid channel
    /// axis, different number of channels): call under guardTorch.
    std::int64_t observe(const at::Tensor& x);
    /// The same; a counting observer also writes its result to `found`; others do not change it.
    std::int64_t observe(const at::Tensor& x, Observed& found);
    /// The same for an `x` with the values observed in `of`, in any order, each clamped to
    /// `bounds`. In most cases the result is derived from `of` without reading `x`.
    std::int64_t observeFollowing(const at::Tensor& x, const Observed& of, Bounds bounds,
                                  Observed& found);

    /// Returns the statistics so far.
    ObserverStats stats() const;
    /// The same without histograms and without a copy; valid until the next observation.
    const ObserverStats& soFar() const { return m_stats; }
    /// Records the range after a number of batches. Replaces earlier ones after that many or more
    /// batches, and those at no recorded count, which a shorter calibration ended with.
    void record(const RangeAfter& range);
    /// Continues from the `stats` of an observer of the same spec.
    void restore(ObserverStats stats);

protected:
    /// Observes a non-empty float32 tensor; returns its extremes and updates `m_stats`.
    virtual kernels::MinMax see(const at::Tensor& x, Observed& found) = 0;
    virtual kernels::MinMax seeFollowing(const at::Tensor& x, const Observed& of, Bounds bounds,
                                         Observed& found);
    /// Fills in the part of the statistics that `see` does not keep in `m_stats`.
    virtual void fill(ObserverStats& stats) const { (void)stats; }
    /// Restores the part written by `fill`.
    virtual void take(ObserverStats& stats) { (void)stats; }

    /// Counts an observation of `values` values; returns the number of NaN and Inf.
    std::int64_t add(std::int64_t values, const kernels::MinMax& batch);

    ObserverStats m_stats;
};

} // namespace qs
