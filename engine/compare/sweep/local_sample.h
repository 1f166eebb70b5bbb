// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/compare/comparison.h"
#include "engine/kernels/error_stats.h"

#include <cstdint>

namespace qs {

/// Noise and signal of one error term by batch: sums that give the standard error of its SQNR.
struct TermSpread
{
    double noise = 0, signal = 0; ///< sums over batches of noise^2, signal^2
    double noise2 = 0, both = 0, signal2 = 0; ///< of their squares, and of their product

    void add(const kernels::ErrorSums& batch);
};

/// How far one unit's local terms (isolated, inherited, born here) have been measured. Each is a
/// ratio of sums, which settles after a few batches. A value.
struct LocalSample
{
    std::int64_t batches = 0, samples = 0;
    TermSpread isolated, inherited, bornHere;

    /// `terms`: the errors of one batch alone.
    void add(const kernels::ErrorTerms& terms, std::int64_t samplesOfBatch);

    /// Whether to measure them on this batch (from 0) of `all`: on the first and on the middle one;
    /// from there on, until the standard errors of isolated and born here are at most
    /// `kLocalErrorDb`. Depends on this unit's own values alone.
    bool wants(std::int64_t batch, std::int64_t all) const;
};

/// Largest standard error, in dB, at which a local term counts as known.
inline constexpr double kLocalErrorDb = 0.1;

/// Standard error in dB of a SQNR that was measured on `batches` of `all`: of a ratio of sums by
/// linearization, with the correction for a finite population (Cochran, Sampling Techniques, 6.4).
/// 0 when all were measured; empty for one batch of several, and without signal or finite noise.
std::optional<double> standardErrorDb(const TermSpread& spread, std::int64_t batches,
                                      std::int64_t all);

} // namespace qs
