// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observations.h"
#include "engine/kernels/ops.h"

#include <ATen/core/Tensor.h>

#include <limits>

namespace qs {

/// Two bounds at which values are cut off.
struct Bounds
{
    float low = -std::numeric_limits<float>::infinity();
    float high = std::numeric_limits<float>::infinity();
};

/// Watches one value (or several that share it) over a calibration and keeps torch.ao's state of
/// its kind. One thread at a time. Kinds are made by `makeObserver`.
class Observer
{
public:
    Observer(ObserverId id, const ObserverSpec& spec);
    virtual ~Observer() = default;
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;

    /// Observes one tensor, of any device, type and strides, as float32. An empty tensor
    /// changes nothing. Returns how many of its values are NaN or Inf. Throws what LibTorch
    /// throws (a channel axis that does not exist, another number of channels): call under
    /// guardTorch.
    std::int64_t observe(const at::Tensor& x);
    /// The same; an observer that counts writes its result to `found` (others leave it alone).
    std::int64_t observe(const at::Tensor& x, Observed& found);
    /// The same for an `x` with the values observed in `of`, in any order, each clamped to
    /// `bounds`: in most cases the result follows from `of`, and `x` is not read.
    std::int64_t observeFollowing(const at::Tensor& x, const Observed& of, Bounds bounds,
                                  Observed& found);

    /// All that was seen so far.
    ObserverStats stats() const;
    /// Continues from the `stats` of an observer of the same spec.
    void restore(ObserverStats stats);

protected:
    /// One float32 tensor that is not empty; returns its extremes and updates `m_stats`.
    virtual kernels::MinMax see(const at::Tensor& x, Observed& found) = 0;
    virtual kernels::MinMax seeFollowing(const at::Tensor& x, const Observed& of, Bounds bounds,
                                         Observed& found);
    /// Completes the part that `see` does not keep in `m_stats`.
    virtual void fill(ObserverStats& stats) const { (void)stats; }
    /// Restores the part that `fill` completed.
    virtual void take(ObserverStats& stats) { (void)stats; }

    /// Counts an observation of `values` values; returns how many are NaN or Inf.
    std::int64_t add(std::int64_t values, const kernels::MinMax& batch);

    ObserverStats m_stats;
};

} // namespace qs
