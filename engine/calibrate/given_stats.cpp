// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/given_stats.h"

#include "engine/plan/rules/given_ranges.h"

#include <algorithm>

namespace qs {

namespace {

void setRange(ObserverStats& stats, const GivenRange& range, bool isPerChannel)
{
    stats.count = std::max<std::int64_t>(stats.count, 1);
    stats.min = *std::min_element(range.min.begin(), range.min.end());
    stats.max = *std::max_element(range.max.begin(), range.max.end());
    stats.channelMin = isPerChannel ? range.min : std::vector<float>();
    stats.channelMax = isPerChannel ? range.max : std::vector<float>();
}

bool goesOn(const GivenObservation& given, const PlannedObserver& observer)
{
    return observer.isWeight && given.seesWeight;
}

} // namespace

std::optional<ObserverStats> givenStart(const Graph& model, const PlannedObserver& observer)
{
    const GivenObservation* given = givenFor(model, observer);
    if (!given || !goesOn(*given, observer))
        return std::nullopt;
    ObserverStats stats;
    stats.id = observer.id;
    stats.spec = observer.spec;
    setRange(stats, givenRange(*given, observer.spec), given->isPerChannel);
    return stats;
}

void takeGivenRanges(const Graph& model, const Plan& plan, Observations& seen)
{
    for (const PlannedObserver& observer : plan.observers) {
        const GivenObservation* given = givenFor(model, observer);
        const auto stats = !given || goesOn(*given, observer)
            ? seen.observers.end()
            : std::find_if(seen.observers.begin(), seen.observers.end(),
                           [&](const ObserverStats& one) { return one.id == observer.id; });
        if (stats == seen.observers.end())
            continue;
        setRange(*stats, givenRange(*given, observer.spec), given->isPerChannel);
    }
}

} // namespace qs
