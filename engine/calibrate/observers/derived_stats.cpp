// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/observers/derived_stats.h"

#include "engine/calibrate/observers/min_max_observer.h"

#include <algorithm>
#include <limits>

namespace qs {

namespace {

/// True if the extremes of each batch are those of all its values, and there is a histogram.
bool tellsBatches(ObserverKind kind)
{
    return kind == ObserverKind::MinMax || kind == ObserverKind::FixedQParams
        || kind == ObserverKind::MovingAverageMinMax || kind == ObserverKind::Histogram;
}

} // namespace

bool sameState(const ObserverSpec& a, const ObserverSpec& b)
{
    if (a.kind != b.kind)
        return false;
    switch (a.kind) {
    case ObserverKind::MovingAverageMinMax:
        return a.averagingConstant == b.averagingConstant;
    case ObserverKind::MovingAveragePerChannelMinMax:
        return a.averagingConstant == b.averagingConstant && a.chAxis == b.chAxis
            && a.groupSize == b.groupSize;
    case ObserverKind::PerChannelMinMax:
        return a.chAxis == b.chAxis && a.groupSize == b.groupSize;
    case ObserverKind::Histogram:
        return a.bins == b.bins;
    default:
        return true;
    }
}

std::optional<ObserverStats> derivedStats(const ObserverStats& from, const ObserverSpec& spec)
{
    if (sameState(from.spec, spec)) {
        ObserverStats out = from;
        if (from.spec != spec) // their ranges may be others
            out.ranges.clear();
        out.spec = spec;
        return out;
    }
    const bool averages = spec.kind == ObserverKind::MovingAverageMinMax;
    const bool wanted
        = averages || spec.kind == ObserverKind::MinMax || spec.kind == ObserverKind::FixedQParams;
    if (!wanted || !tellsBatches(from.spec.kind) || from.nonFinite > 0)
        return std::nullopt;
    ObserverStats out = from;
    out.spec = spec;
    out.exact = {};
    out.ranges.clear();
    out.min = std::numeric_limits<float>::infinity();
    out.max = -out.min;
    for (std::size_t i = 0; i < from.batchMin.size(); ++i) {
        if (averages && i > 0) {
            out.min = movingAverage(out.min, from.batchMin[i], spec.averagingConstant);
            out.max = movingAverage(out.max, from.batchMax[i], spec.averagingConstant);
        } else {
            out.min = std::min(out.min, from.batchMin[i]);
            out.max = std::max(out.max, from.batchMax[i]);
        }
    }
    return out;
}

} // namespace qs
