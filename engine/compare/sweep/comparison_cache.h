// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/memo.h"
#include "engine/compare/metrics/value_counts.h"
#include "engine/kernels/error_stats.h"

#include <cstdint>

namespace qs {

/// Cached results of comparisons for the next one, under keys of all their inputs: values at cuts
/// of the graphs (at::IValue), the sums of units (`CachedUnit`) and how long nodes took (double,
/// seconds). Bounded; the least recently used go first. Thread safe.
class ComparisonCache
{
public:
    /// No values are kept in 0 bytes; sums always are, some tens of megabytes at most.
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
    bool isUnmeasured = false; ///< its shapes differ in the two forms
    std::int64_t oddSince = 0; ///< the batch, from 1, since which an error is infinite; 0 = never
};

/// A comparison that uses kept work and adds its own.
struct Continuation
{
    ComparisonCache& work;
    Key run; ///< of the model, the data, how they are cut, the device and the threads
    std::int64_t batches = 0;
};

} // namespace qs
