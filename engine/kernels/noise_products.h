// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace qs::kernels {

/// A float value, the value with noise, and a gradient: arrays of equal length.
struct NoiseValues
{
    const float* value;
    const float* noisy;
    const float* gradient;
};

/// Sums over a range of elements; noise = noisy - value.
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

/// Writes the sums of each of `rows` consecutive rows of `length` elements to `out`, in one pass
/// over the values. Bit-identical for any number of threads.
void noiseSumsCpu(const NoiseValues& values, std::int64_t rows, std::int64_t length, int threads,
                  NoiseSums* out);

} // namespace qs::kernels
