// SPDX-License-Identifier: Apache-2.0
// C++17: included by .cu files.
#pragma once

#include "engine/kernels/host_device.h"
#include "engine/kernels/stream.h"

#include <cmath>
#include <cstdint>

namespace qs::kernels {

/// One value's quantization as `quantized_decomposed` computes it: float32 arithmetic, the inverse
/// of the scale rounded once from double.
struct FakeQuant
{
    float scale = 1;
    float inverse = 1;
    float zeroPoint = 0;
    float quantMin = 0;
    float quantMax = 255;
};

inline FakeQuant makeFakeQuant(double scale, std::int64_t zeroPoint, std::int64_t quantMin,
                               std::int64_t quantMax)
{
    return {float(scale), float(1.0 / scale), float(zeroPoint), float(quantMin), float(quantMax)};
}

/// Returns the integer as a float: clamp(round_half_even(x * inverse) + zeroPoint); 0 for NaN, as
/// in `quantized_decomposed`, which casts after the clamp.
QS_HD inline float quantizeValue(float x, const FakeQuant& q)
{
    const float shifted = rintf(x * q.inverse) + q.zeroPoint;
    const float low = shifted < q.quantMin ? q.quantMin : shifted;
    const float bounded = low > q.quantMax ? q.quantMax : low;
    return bounded == bounded ? bounded : 0.0f;
}

/// Quantize, then dequantize.
QS_HD inline float fakeQuantize(float x, const FakeQuant& q)
{
    return (quantizeValue(x, q) - q.zeroPoint) * q.scale;
}

/// Quantizes to eight-bit integers; `quantMin` and `quantMax` must fit.
void quantizeCpu(const float* data, std::int64_t count, const FakeQuant& q, std::uint8_t* out,
                 int threads);
void quantizeCpu(const float* data, std::int64_t count, const FakeQuant& q, std::int8_t* out,
                 int threads);
/// Dequantizes eight-bit integers.
void dequantizeCpu(const std::uint8_t* data, std::int64_t count, const FakeQuant& q, float* out,
                   int threads);
void dequantizeCpu(const std::int8_t* data, std::int64_t count, const FakeQuant& q, float* out,
                   int threads);
/// `out` may be `data`.
void fakeQuantCpu(const float* data, std::int64_t count, const FakeQuant& q, float* out,
                  int threads);
/// Device version, queued on `stream`.
void fakeQuantCuda(const float* data, std::int64_t count, const FakeQuant& q, float* out,
                   Stream stream);

} // namespace qs::kernels
