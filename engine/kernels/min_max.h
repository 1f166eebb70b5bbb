// SPDX-License-Identifier: Apache-2.0
// C++17: included by .cu files.
#pragma once

#include "engine/kernels/host_device.h"
#include "engine/kernels/stream.h"

#include <cstdint>
#include <cstring>
#include <limits>

namespace qs::kernels {

/// The extremes of a tensor's finite values, and the number of NaN and Inf. Without finite values:
/// min = +Inf, max = -Inf.
struct MinMax
{
    float min = std::numeric_limits<float>::infinity();
    float max = -std::numeric_limits<float>::infinity();
    std::int64_t nonFinite = 0;
};

/// True if x is neither NaN nor Inf.
QS_HD inline bool isFiniteValue(float x)
{
    // x - x is 0 for finite values, else NaN; a comparison vectorizes better than a bit test.
    return (x - x) == 0.0f;
}

QS_HD inline void include(MinMax& into, float x)
{
    const bool finite = isFiniteValue(x);
    into.min = finite && x < into.min ? x : into.min;
    into.max = finite && x > into.max ? x : into.max;
    into.nonFinite += finite ? 0 : 1;
}

QS_HD inline void merge(MinMax& into, const MinMax& other)
{
    into.min = other.min < into.min ? other.min : into.min;
    into.max = other.max > into.max ? other.max : into.max;
    into.nonFinite += other.nonFinite;
}

/// Maps a float's bits to an unsigned number with the same order, for integer atomics; and the
/// inverse.
QS_HD inline std::uint32_t orderedKey(float x)
{
    std::uint32_t bits = 0;
    memcpy(&bits, &x, sizeof bits);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}
QS_HD inline float fromOrderedKey(std::uint32_t key)
{
    const std::uint32_t bits = key & 0x80000000u ? key & 0x7fffffffu : ~key;
    float x = 0;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/// Returns the extremes of `count` contiguous values, with at most `threads` threads.
MinMax minMaxCpu(const float* data, std::int64_t count, int threads);

/// Shape of a contiguous tensor relative to its channel axis: [outer, channels, inner].
struct ChannelShape
{
    std::int64_t outer = 1;
    std::int64_t channels = 1;
    std::int64_t inner = 1;
};

/// Computes the extremes of each channel; `out` has one entry per channel and is overwritten.
void minMaxChannelsCpu(const float* data, ChannelShape shape, MinMax* out, int threads);

/// Result of a device kernel: keys of `orderedKey`. Sixteen bytes, zero-copy to the host.
struct MinMaxKeys
{
    std::uint32_t minKey;
    std::uint32_t maxKey;
    unsigned long long nonFinite;
};

/// Device versions: pointers to device memory, queued on `stream`. `keys` is first set to `start`
/// (a default MinMax: empty), then extended.
void minMaxCuda(const float* data, std::int64_t count, MinMax start, MinMaxKeys* keys,
                Stream stream);
/// One entry of `keys` per channel.
void minMaxChannelsCuda(const float* data, ChannelShape shape, MinMaxKeys* keys, Stream stream);

} // namespace qs::kernels
