// SPDX-License-Identifier: Apache-2.0
// C++17: included by .cu files.
#pragma once

#include "engine/kernels/host_device.h"
#include "engine/kernels/stream.h"

#include <cstdint>

namespace qs::kernels {

/// Streaming sums from which SQNR, cosine, mean squared and largest error of `other` relative to
/// the signal follow. Add sums of batches with `merge`.
struct ErrorSums
{
    double signal2 = 0; ///< sum of signal^2
    double other2 = 0; ///< sum of other^2
    double dot = 0; ///< sum of signal * other
    double noise2 = 0; ///< sum of (other - signal)^2
    double maxAbs = 0; ///< largest |other - signal|, each in float32
    std::int64_t count = 0;
};

QS_HD inline void include(ErrorSums& into, float signal, float other)
{
    const double s = signal;
    const double o = other;
    const double noise = o - s;
    const float apart = other - signal;
    const double size = apart < 0 ? -apart : apart;
    into.signal2 += s * s;
    into.other2 += o * o;
    into.dot += s * o;
    into.noise2 += noise * noise;
    into.maxAbs = size > into.maxAbs ? size : into.maxAbs;
    into.count += 1;
}

QS_HD inline void merge(ErrorSums& into, const ErrorSums& other)
{
    into.signal2 += other.signal2;
    into.other2 += other.other2;
    into.dot += other.dot;
    into.noise2 += other.noise2;
    into.maxAbs = other.maxAbs > into.maxAbs ? other.maxAbs : into.maxAbs;
    into.count += other.count;
}

/// Sums over `count` pairs; bit-identical for equal input and thread count.
ErrorSums errorSumsCpu(const float* signal, const float* other, std::int64_t count, int threads);

/// The four errors of one layer relative to its float value y.
struct ErrorTerms
{
    ErrorSums isolated, inherited, bornHere, cumulative;
};

inline void merge(ErrorTerms& into, const ErrorTerms& other)
{
    merge(into.isolated, other.isolated);
    merge(into.inherited, other.inherited);
    merge(into.bornHere, other.bornHere);
    merge(into.cumulative, other.cumulative);
}

/// Values of a layer: arrays of equal length.
struct LayerValues
{
    const float* signal; ///< y, in the float model
    const float* converted; ///< y^, in the converted model
    const float* onConverted; ///< f(x^): the float layer on the converted model's inputs
    const float* quantizedOnFloat; ///< f_q(x): the converted layer on the float model's inputs
};

/// Computes all four in one pass; the error born in this layer is y^ - f(x^).
ErrorTerms errorTermsCpu(const LayerValues& values, std::int64_t count, int threads);
/// Only the cumulative error, bit-identical to that of `errorTermsCpu`.
ErrorSums cumulativeErrorCpu(const float* signal, const float* converted, std::int64_t count,
                             int threads);

/// Number of scratch entries of `errorSumsCuda`.
inline constexpr int kErrorSumsScratch = 1024;
/// Device version: `scratch` has kErrorSumsScratch entries; writes the result to `out` (device
/// memory). Queued on `stream`.
void errorSumsCuda(const float* signal, const float* other, std::int64_t count, ErrorSums* scratch,
                   ErrorSums* out, Stream stream);

} // namespace qs::kernels
