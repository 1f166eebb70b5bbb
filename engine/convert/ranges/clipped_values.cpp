// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/ranges/clipped_values.h"

#include "engine/base/text.h"
#include "engine/convert/ranges/storage_range.h"
#include "engine/convert/ranges/unread_channels.h"

#include <algorithm>

namespace qs {

namespace {

/// Fraction of the range that is tolerated: a sigmoid's 1 is above 255/256.
constexpr double kSlack = 0.02;

std::string span(double low, double high)
{
    return numberText(low) + " to " + numberText(high);
}

/// Returns the producers of an observer's values, without duplicates.
std::vector<std::string> makersOf(const Graph& model, const PlannedObserver& observer)
{
    std::vector<std::string> names;
    for (const ObservedEdge& edge : observer.edges) {
        const Node* maker = model.tryGet(edge.value.node);
        if (maker && std::find(names.begin(), names.end(), maker->name) == names.end())
            names.push_back(maker->name);
    }
    return names;
}

/// True if channels were split off all consumers: the range then only needs to cover the other
/// channels.
bool isSplit(const Graph& model, const PlannedObserver& observer)
{
    const auto readsAll = [&](const ObservedEdge& edge, const Use& reader) {
        const std::vector<bool> unread = unreadChannels(model, reader.node, edge.value);
        return std::find(unread.begin(), unread.end(), true) == unread.end();
    };
    return std::none_of(observer.edges.begin(), observer.edges.end(), [&](const auto& edge) {
        return edge.readers.empty()
            || std::any_of(edge.readers.begin(), edge.readers.end(),
                           [&](const Use& reader) { return readsAll(edge, reader); });
    });
}

} // namespace

std::vector<std::string> clippedValues(const Graph& model, const Plan& plan,
                                       const Observations& observations,
                                       const QParamsTable& qparams)
{
    std::vector<std::string> told;
    for (const PlannedObserver& observer : plan.observers) {
        const ObserverStats* seen = observations.tryGet(observer.id);
        const auto chosen = qparams.find(observer.id);
        if (observer.spec.kind != ObserverKind::FixedQParams || observer.edges.empty() || !seen
            || !seen->everRan() || chosen == qparams.end() || chosen->second.scale.size() != 1)
            continue;
        const auto [low, high] = heldEnds(chosen->second);
        const double slack = kSlack * (high - low);
        const std::vector<std::string> makers = makersOf(model, observer);
        if (makers.empty() || (seen->min >= low - slack && seen->max <= high + slack)
            || isSplit(model, observer))
            continue;
        told.push_back("the values of " + quotedNames(makers)
                       + (makers.size() > 1 ? ", which share parameters," : "") + " go from "
                       + span(seen->min, seen->max) + ", the fixed parameters hold "
                       + span(low, high)
                       + ": the rest is cut off; keep what reads them float, or quantize what "
                         "makes them");
    }
    return told;
}

} // namespace qs
