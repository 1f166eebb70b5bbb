// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/memo.h"
#include "engine/compare/metrics/value_counts.h"
#include "engine/compare/sweep/local_sample.h"
#include "engine/kernels/error_stats.h"

#include <cstdint>

namespace qs {

/// Cached results of comparisons for the next one, under keys of all their inputs: values at cuts
/// of the graphs (at::IValue), the sums of units (`CachedUnit`) and how long nodes took (double,
/// seconds). Bounded; evicts the least recently used. Thread safe.
class ComparisonCache
{
public:
    /// 0 bytes: caches no values. Always caches sums, within 32 MiB.
    explicit ComparisonCache(std::size_t valueBytes)
        : values(valueBytes)
    {
    }

    Memo values;
    Memo sums {std::size_t(32) << 20};
    std::size_t bytes() const { return values.bytes() + sums.bytes(); }
};

/// The errors of one unit over all batches.
struct CachedUnit
{
    kernels::ErrorTerms sums;
    ValueCounts counts;
    bool isUnmeasured = false; ///< its shapes differ between the forms
    std::int64_t oddSince = 0; ///< first batch, from 1, with an infinite error; 0 = never
    LocalSample local;
};

/// A comparison's access to the cache: reads earlier results and adds its own.
struct Continuation
{
    ComparisonCache& work;
    Key run; ///< of model, data, how they are cut, device and threads
    std::int64_t batches = 0;
};

} // namespace qs
