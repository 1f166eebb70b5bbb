// SPDX-License-Identifier: Apache-2.0
// What one element of a result is, for the CPU and for CUDA alike: each is a function of its
// number, and both compute the same bits (compile with -ffp-contract=off and -fmad=false).
#pragma once

#include <cmath>
#include <cstdint>

#ifdef __CUDACC__
#define SPARSE_CONV_BOTH __host__ __device__
#else
#define SPARSE_CONV_BOTH
#endif

namespace sparse_conv {

/// Features [sites, in], a filter [out, taps, in], and for each site of the result and each tap the
/// site that flows in, -1 for none: [result's sites, taps].
template<class Feature, class Weight>
struct Conv
{
    const Feature* features;
    const Weight* weight;
    const std::int64_t* from;
    std::int64_t taps, in, out;
};

/// The sum of products at one site of the result and one channel; `zero` stands for 0 in features.
template<class Sum, class Feature, class Weight>
SPARSE_CONV_BOTH Sum summed(const Conv<Feature, Weight>& conv, std::int64_t site,
                            std::int64_t channel, Sum zero)
{
    Sum sum = 0;
    for (std::int64_t tap = 0; tap < conv.taps; ++tap) {
        const std::int64_t source = conv.from[site * conv.taps + tap];
        if (source < 0)
            continue;
        const Feature* feature = conv.features + source * conv.in;
        const Weight* weight = conv.weight + (channel * conv.taps + tap) * conv.in;
        for (std::int64_t i = 0; i < conv.in; ++i)
            sum += (Sum(feature[i]) - zero) * Sum(weight[i]);
    }
    return sum;
}

struct FloatElement
{
    Conv<float, float> conv;
    const float* bias; ///< null = none
    float* result;

    SPARSE_CONV_BOTH void operator()(std::int64_t i) const
    {
        const std::int64_t channel = i % conv.out;
        const float sum = summed<float>(conv, i / conv.out, channel, 0);
        result[i] = bias ? sum + bias[channel] : sum;
    }
};

/// A convolution with ReLU on eight bits; weights are symmetric.
template<class Level>
struct Int8Element
{
    Conv<Level, std::int8_t> conv;
    const float* bias; ///< null = none
    const double* weightScales; ///< a channel of the result each
    double inputScale;
    std::int64_t inputZeroPoint;
    double outputScale;
    std::int64_t outputZeroPoint;
    double low, high; ///< levels that there are
    Level* result;

    SPARSE_CONV_BOTH void operator()(std::int64_t i) const
    {
        const std::int64_t channel = i % conv.out;
        const std::int64_t sum = summed(conv, i / conv.out, channel, inputZeroPoint);
        double real = double(sum) * (weightScales[channel] * inputScale);
        if (bias)
            real += double(bias[channel]);
        double level = rint((real > 0 ? real : 0) / outputScale) + double(outputZeroPoint);
        level = level < low ? low : level > high ? high : level;
        result[i] = Level(level);
    }
};

} // namespace sparse_conv
