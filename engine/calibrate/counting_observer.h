// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observer.h"

#include <optional>

namespace qs {

/// What `tensorObserve` would find in a tensor that holds the values of the one `of` tells of, in
/// any order, each cut off at `bounds`. Bins are monotone in the value, so the counts beyond a
/// bound move to the bin of that bound: the result is exact. Nothing where the values would leave
/// the range counted over, or where NaN or Inf was seen.
std::optional<Observed> cutOff(const Observed& of, Bounds bounds);

/// An observer that counts into equal bins over a range that grows with the data.
class CountingObserver : public Observer
{
public:
    using Observer::Observer;

protected:
    kernels::MinMax see(const at::Tensor& x, Observed& found) final;
    kernels::MinMax seeFollowing(const at::Tensor& x, const Observed& of, Bounds bounds,
                                 Observed& found) final;

    struct Known
    {
        float low = 0; ///< +Inf, -Inf = nothing seen yet
        float high = 0;
        std::int32_t bins = 0;
    };
    /// What the next look counts over, before it grows.
    virtual Known known() const = 0;
    /// Takes in what a look at `x` found.
    virtual void learn(const at::Tensor& x, const Observed& seen) = 0;
};

} // namespace qs
