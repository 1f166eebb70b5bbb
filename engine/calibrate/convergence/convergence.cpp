// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/convergence/convergence.h"

#include "engine/base/text.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr std::size_t kNamed = 3;

/// Returns "12 %", with one decimal below ten.
std::string percentText(double share)
{
    return fixedText(100 * share, share < 0.1 ? 1 : 0) + " %";
}

} // namespace

const RangeHistory* Convergence::tryGet(ObserverId id) const
{
    const auto at
        = std::lower_bound(observers.begin(), observers.end(), id,
                           [](const RangeHistory& one, ObserverId key) { return one.id < key; });
    return at != observers.end() && at->id == id ? &*at : nullptr;
}

std::string observedName(const Graph& model, const PlannedObserver& observer)
{
    const NodeId id = observer.interior.empty() && !observer.edges.empty()
        ? observer.edges.front().value.node
        : observer.weightOwner;
    const Node* node = model.tryGet(id);
    return node ? node->name : std::string();
}

Convergence convergenceOf(const Observations& observations, const Graph& model, const Plan& plan)
{
    Convergence out;
    for (const PlannedObserver& planned : plan.observers) {
        const ObserverStats* stats = observations.tryGet(planned.id);
        if (!stats || stats->ranges.empty())
            continue;
        out.observers.push_back({planned.id, observedName(model, planned), stats->ranges});
        out.batches = std::max(out.batches, stats->ranges.back().batches);
    }
    return out;
}

std::int64_t comparedCount(std::int64_t batches)
{
    if (batches < 2)
        return 0;
    std::int64_t count = 1;
    while (count * 2 <= batches / 2)
        count *= 2;
    return count;
}

std::optional<double> rangeChange(const RangeHistory& history)
{
    if (history.ranges.empty())
        return std::nullopt;
    const RangeAfter& now = history.ranges.back();
    const std::int64_t since = comparedCount(now.batches);
    const auto was = std::find_if(history.ranges.begin(), history.ranges.end(),
                                  [&](const RangeAfter& one) { return one.batches == since; });
    if (since == 0 || was == history.ranges.end())
        return std::nullopt;
    const auto lowOf = [](const RangeAfter& one) { return std::min(0.0, double(one.low)); };
    const auto highOf = [](const RangeAfter& one) { return std::max(0.0, double(one.high)); };
    const double shift
        = std::max(std::abs(lowOf(now) - lowOf(*was)), std::abs(highOf(now) - highOf(*was)));
    const double width = highOf(now) - lowOf(now);
    if (shift == 0)
        return 0;
    return width > 0 ? shift / width : 1;
}

std::optional<ConvergenceHint> convergenceHint(const Convergence& convergence)
{
    ConvergenceHint hint;
    hint.batches = convergence.batches;
    hint.since = comparedCount(convergence.batches);
    if (convergence.batches < kLeastBatches)
        return std::nullopt;
    std::vector<ConvergenceHint::Moving> moving;
    for (const RangeHistory& one : convergence.observers) {
        const auto change = rangeChange(one);
        if (!change || one.ranges.back().batches != convergence.batches)
            continue;
        ++hint.ranges;
        if (*change < kSmallChange)
            ++hint.settled;
        else
            moving.push_back({one.name, *change});
    }
    if (hint.ranges == 0)
        return std::nullopt;
    std::stable_sort(moving.begin(), moving.end(),
                     [](const auto& a, const auto& b) { return a.change > b.change; });
    hint.isSettled = double(hint.settled) >= kSettledShare * double(hint.ranges)
        && (moving.empty() || moving.front().change < kLargeChange);
    for (auto& one : moving) {
        const bool isNamed = std::any_of(hint.worst.begin(), hint.worst.end(),
                                         [&](const auto& other) { return other.name == one.name; });
        if (!isNamed && hint.worst.size() < kNamed)
            hint.worst.push_back(std::move(one));
    }
    return hint;
}

std::string hintText(const ConvergenceHint& hint)
{
    std::string text = std::to_string(hint.settled) + " of "
        + counted(std::int64_t(hint.ranges), "range") + " changed by less than "
        + fixedText(100 * kSmallChange, 0) + " % since batch " + std::to_string(hint.since);
    if (hint.isSettled)
        return text + ": more data will change little";
    text += "; still changing: ";
    for (std::size_t i = 0; i < hint.worst.size(); ++i)
        text += (i > 0 ? ", " : "") + inQuotes(hint.worst[i].name) + " ("
            + percentText(hint.worst[i].change) + ")";
    return text;
}

} // namespace qs
