// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/qconfigs/observer_check.h"

#include <cmath>

namespace qs {

namespace {

/// Returns the integer range of a dtype.
QuantRange limitsOf(DType dtype)
{
    ObserverSpec whole;
    whole.dtype = dtype;
    return quantRange(whole);
}

Result<void> checkFixedZeroPoint(const JsonPlace& place, const ObserverSpec& spec)
{
    if (spec.kind != ObserverKind::FixedQParams)
        return {};
    const QuantRange limits = limitsOf(spec.dtype);
    if (spec.zeroPoint >= limits.min && spec.zeroPoint <= limits.max)
        return {};
    return place.error("'zero_point' " + std::to_string(spec.zeroPoint) + " does not fit "
                           + std::string(dtypeName(spec.dtype)),
                       "it holds " + std::to_string(limits.min) + ".."
                           + std::to_string(limits.max));
}

Result<void> checkRange(const JsonPlace& place, const ObserverSpec& spec)
{
    if (spec.quantMin.has_value() != spec.quantMax.has_value())
        return place.error("'quant_min' and 'quant_max' belong together", "give both or neither");
    if (!spec.quantMin)
        return {};
    const std::string range
        = std::to_string(*spec.quantMin) + ".." + std::to_string(*spec.quantMax);
    if (*spec.quantMin >= *spec.quantMax)
        return place.error("the range " + range + " is empty",
                           "quant_min must lie below quant_max");
    if (*spec.quantMin > 0 || *spec.quantMax < 0)
        return place.error("the range " + range + " does not hold 0");
    if (!isIntegerDType(spec.dtype))
        return {};
    const QuantRange limits = limitsOf(spec.dtype);
    if (*spec.quantMin < limits.min || *spec.quantMax > limits.max)
        return place.error(
            "the range " + range + " does not fit " + std::string(dtypeName(spec.dtype)),
            "it holds " + std::to_string(limits.min) + ".." + std::to_string(limits.max));
    return {};
}

/// Checks the group size against the limits of `quantized_decomposed.quantize_per_channel_group`.
Result<void> checkGroups(const JsonPlace& place, const ObserverSpec& spec)
{
    if (spec.groupSize == 0)
        return {};
    if (spec.chAxis != 0)
        return place.error("groups lie in the rows of a weight, not along 'ch_axis' "
                               + std::to_string(spec.chAxis),
                           "leave 'ch_axis' out, or 'group_size'");
    if (spec.qscheme == QScheme::PerChannelAffineFloatQParams)
        return place.error("groups cannot have real zero points",
                           "use per_channel_symmetric or per_channel_affine");
    if (limitsOf(spec.dtype).max > 255)
        return place.error("groups hold integers of at most 8 bits, not "
                               + std::string(dtypeName(spec.dtype)),
                           "use qint8; 4 bits are \"quant_min\": -8, \"quant_max\": 7");
    return {};
}

} // namespace

bool isChannelKind(ObserverKind kind)
{
    return kind == ObserverKind::PerChannelMinMax
        || kind == ObserverKind::MovingAveragePerChannelMinMax;
}

bool triesEachBin(RangeMethod method)
{
    return method == RangeMethod::Entropy || method == RangeMethod::Mse;
}

Result<void> checkObserver(const JsonPlace& place, const ObserverSpec& spec)
{
    const bool observing = choosesQParams(spec.kind);
    const std::string kind(observerKindName(spec.kind));
    if (observing && isChannelKind(spec.kind) != isPerChannel(spec.qscheme))
        return place.error(
            "observer '" + kind + "' cannot give '" + std::string(qschemeName(spec.qscheme)) + "'",
            isChannelKind(spec.kind) ? "use a per_channel scheme" : "use a per_tensor scheme");
    if (observing && !isIntegerDType(spec.dtype))
        return place.error("observer '" + kind + "' needs an integer dtype, not "
                               + std::string(dtypeName(spec.dtype)),
                           "use quint8 or qint8, or the observer 'placeholder'");
    if (spec.isDynamic && observing && spec.kind != ObserverKind::MinMax
        && !(spec.kind == ObserverKind::MovingAverageMinMax && spec.averagingConstant == 1))
        return place.error("observer '" + kind + "' cannot be dynamic",
                           "use 'placeholder', 'minmax', or 'moving_average_minmax' with "
                           "averaging_constant 1");
    if (observing && spec.reduceRange && isSymmetric(spec.qscheme) && spec.dtype == DType::QUInt8)
        return place.error("a symmetric quint8 range cannot be reduced",
                           "use qint8, or leave reduce_range out");
    if (!(spec.eps > 0) || !std::isfinite(spec.eps))
        return place.error("'eps' must be above 0");
    if (!(spec.scale > 0) || !std::isfinite(spec.scale))
        return place.error("'scale' must be above 0");
    if (!(spec.percentile > 0) || spec.percentile > 100)
        return place.error("'percentile' must lie above 0 and at most at 100", "for example 99.99");
    if (spec.range != RangeMethod::Percentile && spec.percentile != ObserverSpec {}.percentile)
        return place.error("'percentile' has no meaning for the range '"
                               + std::string(rangeMethodName(spec.range)) + "'",
                           "add \"range\": \"percentile\"");
    if (spec.bins < 2)
        return place.error("'bins' must be at least 2");
    if (triesEachBin(spec.range) && spec.bins > kMostSearchedBins)
        return place.error("'bins' must be at most " + std::to_string(kMostSearchedBins)
                           + " with the range '" + std::string(rangeMethodName(spec.range)) + "'");
    if (spec.chAxis < 0)
        return place.error("'ch_axis' must be at least 0", "count from the first dimension");
    QS_CHECK(checkGroups(place, spec));
    if (spec.averagingConstant < 0 || spec.averagingConstant > 1)
        return place.error("'averaging_constant' must lie between 0 and 1");
    QS_CHECK(checkFixedZeroPoint(place, spec));
    return checkRange(place, spec);
}

} // namespace qs
