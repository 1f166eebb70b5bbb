// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observers/observer.h"

#include <limits>
#include <optional>

namespace qs {

/// Returns the result of `tensorObserve` for the values observed in `of`, in any order, each
/// clamped to `bounds`. Exact, because bins are monotonic in the value: counts beyond a bound move
/// to the bound's bin. nullopt if values would leave the counted range, or if NaN or Inf was seen.
std::optional<Observed> cutOff(const Observed& of, Bounds bounds);

/// An observer that counts values in equal bins over a range that grows with the data.
class CountingObserver : public Observer
{
public:
    using Observer::Observer;

    /// Queues an observation of a non-empty tensor on its device, over the range left by earlier
    /// ones; does not wait. Pass the result through `observationFrom` to `settle`. Do not mix with
    /// `observe`.
    at::Tensor queue(const at::Tensor& x);
    /// Adds the result of a queued observation of `values` values; call in the order of queueing.
    /// Returns the number of NaN and Inf.
    std::int64_t settle(std::int64_t values, const Observed& observation);
    /// The next queued observation starts from the restored statistics. Call after `restore`, with
    /// nothing queued.
    void restartQueue() { m_range.reset(); }

protected:
    kernels::MinMax see(const at::Tensor& x, Observed& found) final;
    kernels::MinMax seeFollowing(const at::Tensor& x, const Observed& of, Bounds bounds,
                                 Observed& found) final;

    struct Known
    {
        /// `low` = +Inf, `high` = -Inf: no value yet.
        float low = std::numeric_limits<float>::infinity();
        float high = -std::numeric_limits<float>::infinity();
        std::int32_t bins = 0;
    };
    /// The range known before the next observation.
    virtual Known known() const = 0;
    /// Adds the observation of `x`; `x` is undefined if it was queued.
    virtual void learn(const at::Tensor& x, const Observed& seen) = 0;

private:
    at::Tensor m_range; ///< on the device: range after the queued observations
};

} // namespace qs
