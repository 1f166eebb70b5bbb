// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace qs::kernels {

/// A float value, the same with noise in it, and a gradient: arrays of equal length.
struct NoiseValues
{
    const float* value;
    const float* noisy;
    const float* gradient;
};

/// Sums over some of it; noise = noisy - value.
struct NoiseSums
{
    double signal2 = 0; ///< sum of value^2
    double noise2 = 0; ///< sum of noise^2
    double gradient2 = 0; ///< sum of gradient^2
    double product = 0; ///< sum of gradient * noise

    NoiseSums& operator+=(const NoiseSums& other)
    {
        signal2 += other.signal2;
        noise2 += other.noise2;
        gradient2 += other.gradient2;
        product += other.product;
        return *this;
    }
};

/// The sums of each of `rows` consecutive rows of `length` elements, into `out`, in one reading of
/// the values. The same bits whatever the number of threads.
void noiseSumsCpu(const NoiseValues& values, std::int64_t rows, std::int64_t length, int threads,
                  NoiseSums* out);

} // namespace qs::kernels
