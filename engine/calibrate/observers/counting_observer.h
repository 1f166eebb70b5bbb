// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observers/observer.h"

#include <limits>
#include <optional>

namespace qs {

/// The result of `tensorObserve` for a tensor with the values observed in `of`, in any order, each
/// clamped to `bounds`. Bins are monotone in the value, so the counts beyond a bound move to the
/// bin of that bound: the result is exact. Nothing if the values would leave the range counted
/// over, or if NaN or Inf was seen.
std::optional<Observed> cutOff(const Observed& of, Bounds bounds);

/// An observer that counts into equal bins over a range that grows with the data.
class CountingObserver : public Observer
{
public:
    using Observer::Observer;

    /// Queues an observation of a tensor that is not empty, on its device, over the range that
    /// earlier ones leave there; does not wait. Pass the result through `observationFrom` to
    /// `settle`. Not to be mixed with `observe`.
    at::Tensor queue(const at::Tensor& x);
    /// Adds the result of an observation of `values` values, in the order of queueing; returns how
    /// many are NaN or Inf.
    std::int64_t settle(std::int64_t values, const Observed& observation);

protected:
    kernels::MinMax see(const at::Tensor& x, Observed& found) final;
    kernels::MinMax seeFollowing(const at::Tensor& x, const Observed& of, Bounds bounds,
                                 Observed& found) final;

    struct Known
    {
        float low = std::numeric_limits<float>::infinity(); ///< +Inf, -Inf = nothing seen yet
        float high = -std::numeric_limits<float>::infinity();
        std::int32_t bins = 0;
    };
    /// The range of the next observation, before it grows.
    virtual Known known() const = 0;
    /// Adds the observation of `x`; `x` is undefined if it was queued.
    virtual void learn(const at::Tensor& x, const Observed& seen) = 0;

private:
    at::Tensor m_range; ///< on the device: the range after the queued observations
};

} // namespace qs
