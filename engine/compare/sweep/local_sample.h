// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/compare/comparison.h"
#include "engine/kernels/error_stats.h"

#include <cstdint>

namespace qs {

/// Noise and signal of one error term by batch: sums that tell how far batches differ.
struct TermSpread
{
    std::int64_t batches = 0;
    double noise = 0, signal = 0; ///< sums over batches of noise^2, signal^2
    double noise2 = 0, both = 0, signal2 = 0; ///< of their squares, and of their product

    void add(const kernels::ErrorSums& batch);
    /// Variance of one batch's noise about the common ratio of noise to signal, relative to the
    /// mean noise. Empty below two batches, and without signal or finite noise.
    std::optional<double> variance() const;
};

/// How far one unit's local terms (isolated, inherited, born here) have been measured. Each is a
/// ratio of sums, which settles after a few batches. A value.
struct LocalSample
{
    std::int64_t samples = 0; ///< on which the local terms were measured
    TermSpread isolated, inherited, bornHere;
    TermSpread cumulative; ///< of all batches so far

    /// Adds one batch on which all terms were measured.
    void add(const kernels::ErrorTerms& terms, std::int64_t samplesOfBatch);

    /// Whether to measure them on this batch (from 0) of `all`: on the first and on the middle one;
    /// from there on, until the standard errors of isolated and born here are at most
    /// `kLocalErrorDb`. Depends on this unit's own values alone.
    bool wants(std::int64_t batch, std::int64_t all) const;

    /// Standard error in dB of the SQNR of `local`, one of the three, measured on a part of `all`
    /// batches: of a ratio of sums by linearization, with the correction for a finite population
    /// (Cochran, Sampling Techniques, 6.4). The variance of few batches is itself uncertain; it is
    /// moderated by that of the cumulative term (Smyth 2004). 0 when all were measured; empty where
    /// `local` has no variance.
    std::optional<double> standardErrorDb(const TermSpread& local, std::int64_t all) const;
};

/// Largest standard error, in dB, at which a local term counts as known.
inline constexpr double kLocalErrorDb = 0.1;

} // namespace qs
