// SPDX-License-Identifier: Apache-2.0
// The arithmetic of torch.ao's observers, operation by operation: the order and width of every
// rounding is part of the result.
#include "engine/convert/ranges/choose_qparams.h"

#include "engine/convert/ranges/histogram_ranges.h"
#include "engine/convert/ranges/histogram_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace qs {

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

bool isUnsignedByte(DType dtype)
{
    return dtype == DType::QUInt8 || dtype == DType::UInt8;
}

// Python's floor division.
std::int64_t floorHalf(std::int64_t value)
{
    return value >= 0 ? value / 2 : -((-value + 1) / 2);
}

std::int64_t symmetricZeroPoint(const ObserverSpec& spec, const QuantRange& range)
{
    if (isUnsignedByte(spec.dtype)) {
        const bool custom = spec.quantMin && spec.quantMax;
        return custom ? floorHalf(range.min + range.max) : 128;
    }
    return spec.dtype == DType::UInt16 ? 1 << 15 : 0;
}

// Converts float to int32 as the processor's instruction: values out of range become the minimum.
std::int32_t toInt32(float value)
{
    if (!(value >= -2147483648.0f && value < 2147483648.0f))
        return std::numeric_limits<std::int32_t>::min();
    return std::int32_t(value);
}

struct OneParam
{
    float scale = 1;
    std::int64_t zeroPoint = 0;
    float floatZeroPoint = 0;
};

OneParam symmetricParam(const ObserverSpec& spec, const QuantRange& range, float min, float max)
{
    const float reach = std::max(-std::min(min, 0.0f), std::max(max, 0.0f));
    const float half = float(double(range.max - range.min) / 2);
    return {std::max(reach / half, float(spec.eps)), symmetricZeroPoint(spec, range), 0};
}

OneParam affineParam(const ObserverSpec& spec, const QuantRange& range, float min, float max)
{
    const float low = std::min(min, 0.0f);
    const float high = std::max(max, 0.0f);
    const float steps = float(double(range.max - range.min));
    const float scale = std::max((high - low) / steps, float(spec.eps));
    // torch.ao subtracts in 32-bit integers, which wraps.
    const std::int32_t rounded = toInt32(std::nearbyint(low / scale));
    const auto wrapped = std::int32_t(std::uint32_t(range.min) - std::uint32_t(rounded));
    return {scale, std::clamp<std::int64_t>(wrapped, range.min, range.max), 0};
}

OneParam floatParam(const ObserverSpec& spec, const QuantRange& range, float min, float max)
{
    const float steps = float(double(range.max - range.min));
    const float step = (max - min) / steps;
    const float scale = step > float(spec.eps) ? step : 1.0f;
    const float zero = -1.0f * min / scale;
    return {scale, std::int64_t(zero), zero};
}

QParams emptyParams(const ObserverSpec& spec)
{
    QParams out;
    const QuantRange range = quantRange(spec);
    out.dtype = spec.dtype;
    out.qscheme = spec.qscheme;
    out.quantMin = range.min;
    out.quantMax = range.max;
    out.axis = isPerChannel(spec.qscheme) ? spec.chAxis : 0;
    out.groupSize = spec.groupSize;
    return out;
}

QParams uncalibrated(const ObserverSpec& spec)
{
    QParams out = emptyParams(spec);
    out.scale = {1.0f};
    out.zeroPoint = {0};
    out.calibrated = false;
    return out;
}

} // namespace

ValueRange chooseRange(const ObserverStats& stats)
{
    const ValueRange whole {stats.min, stats.max};
    if (stats.spec.kind != ObserverKind::Histogram || stats.exact.empty())
        return whole;
    switch (stats.spec.range) {
    case RangeMethod::Search:
        return searchHistogramRange(stats.exact, stats.spec.dtype);
    case RangeMethod::MinMax:
        return whole;
    case RangeMethod::Percentile:
        return percentileRange(stats.exact, stats.spec.percentile);
    case RangeMethod::Entropy:
        return entropyRange(stats.exact, stats.spec);
    case RangeMethod::Mse:
        return mseRange(stats.exact, stats.spec);
    }
    return whole;
}

ValueRange wholeRange(const ObserverStats& stats)
{
    if (!isPerChannel(stats.spec.qscheme) || stats.channelMin.empty())
        return chooseRange(stats);
    return {*std::min_element(stats.channelMin.begin(), stats.channelMin.end()),
            *std::max_element(stats.channelMax.begin(), stats.channelMax.end())};
}

QParams qparamsFromRange(const ObserverSpec& spec, const std::vector<float>& min,
                         const std::vector<float>& max)
{
    const bool never = min.empty() || max.empty()
        || (!isPerChannel(spec.qscheme) && min[0] == kInf && max[0] == -kInf);
    if (never)
        return uncalibrated(spec);
    QParams out = emptyParams(spec);
    const QuantRange range {out.quantMin, out.quantMax};
    for (std::size_t i = 0; i < min.size(); ++i) {
        OneParam one;
        if (spec.qscheme == QScheme::PerChannelAffineFloatQParams)
            one = floatParam(spec, range, min[i], max[i]);
        else if (isSymmetric(spec.qscheme))
            one = symmetricParam(spec, range, min[i], max[i]);
        else
            one = affineParam(spec, range, min[i], max[i]);
        out.scale.push_back(one.scale);
        out.zeroPoint.push_back(one.zeroPoint);
        if (spec.qscheme == QScheme::PerChannelAffineFloatQParams)
            out.floatZeroPoint.push_back(one.floatZeroPoint);
    }
    return out;
}

namespace {

/// `known`: the result of `chooseRange`; null: not computed yet.
QParams qparamsOf(const ObserverStats& stats, const RangeAfter* known)
{
    const ObserverSpec& spec = stats.spec;
    if (spec.kind == ObserverKind::FixedQParams) {
        QParams out = emptyParams(spec);
        out.quantMin = spec.quantMin.value_or(0);
        out.quantMax = spec.quantMax.value_or(255);
        out.scale = {float(spec.scale)};
        out.zeroPoint = {spec.zeroPoint};
        return out;
    }
    if (!stats.everRan())
        return uncalibrated(spec);
    if (isPerChannel(spec.qscheme))
        return qparamsFromRange(spec, stats.channelMin, stats.channelMax);
    const ValueRange range = known ? ValueRange {known->low, known->high} : chooseRange(stats);
    return qparamsFromRange(spec, {range.min}, {range.max});
}

} // namespace

QParams chooseQParams(const ObserverStats& stats)
{
    return qparamsOf(stats, nullptr);
}

bool choosesQParams(const ObserverSpec& spec)
{
    return choosesQParams(spec.kind) && !spec.isDynamic && isIntegerDType(spec.dtype);
}

ObserverSpec fixedBy(ObserverSpec spec, const QParams& qparams)
{
    spec.kind = ObserverKind::FixedQParams;
    spec.quantMin = qparams.quantMin;
    spec.quantMax = qparams.quantMax;
    spec.reduceRange = false;
    spec.scale = double(qparams.scale.front());
    spec.zeroPoint = qparams.zeroPoint.front();
    return spec;
}

QParamsTable chooseAllQParams(const Observations& observations)
{
    QParamsTable out;
    for (const auto& stats : observations.observers) {
        if (!choosesQParams(stats.spec))
            continue;
        const bool isKnown
            = !stats.ranges.empty() && stats.ranges.back().batches == observations.batches;
        out[stats.id] = qparamsOf(stats, isKnown ? &stats.ranges.back() : nullptr);
    }
    return out;
}

} // namespace qs
