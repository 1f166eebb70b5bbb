// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/kernels/min_max.h"

namespace qs::kernels {

/// Reduces the results of a block's threads and adds them to `out`. All threads of the block must
/// call it. Minimum, maximum and integer sums do not depend on the order.
__device__ inline void publish(const MinMax& mine, MinMaxKeys* out)
{
    __shared__ MinMaxKeys joined;
    if (threadIdx.x == 0)
        joined = MinMaxKeys {0xffffffffu, 0u, 0ull};
    __syncthreads();
    atomicMin(&joined.minKey, orderedKey(mine.min));
    atomicMax(&joined.maxKey, orderedKey(mine.max));
    if (mine.nonFinite > 0)
        atomicAdd(&joined.nonFinite, static_cast<unsigned long long>(mine.nonFinite));
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicMin(&out->minKey, joined.minKey);
        atomicMax(&out->maxKey, joined.maxKey);
        if (joined.nonFinite > 0)
            atomicAdd(&out->nonFinite, joined.nonFinite);
    }
}

} // namespace qs::kernels
