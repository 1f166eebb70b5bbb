// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/tune/range_choice.h"

#include "engine/base/decibels.h"
#include "engine/blame/causes/site_facts.h"
#include "engine/blame/diagnosis.h"
#include "engine/configure/qconfigs/derived_qconfig.h"
#include "engine/pipeline/causes_of.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace qs {

namespace {

constexpr double kLeastInspected = 0.001; ///< least share of the noise of an inspected value
constexpr double kClearlyLess = 0.9; ///< factor of the current share that counts as better
/// Least SQNR of a value: with stronger clipping, shares no longer add up.
constexpr double kLeastOwnDb = 12;

struct RangeWay
{
    RangeMethod method;
    double percentile = 0;
};
constexpr std::array kWays {RangeWay {RangeMethod::Search},
                            RangeWay {RangeMethod::MinMax},
                            RangeWay {RangeMethod::Mse},
                            RangeWay {RangeMethod::Entropy},
                            RangeWay {RangeMethod::Percentile, 99.99},
                            RangeWay {RangeMethod::Percentile, 99.9}};

ObserverSpec observedIn(const RangeWay& way, const ObserverSpec& now, bool allBits)
{
    ObserverSpec spec = observedBy(now, ObserverKind::Histogram, way.method);
    if (way.percentile > 0)
        spec.percentile = way.percentile;
    return allBits ? withAllBits(spec).value_or(spec) : spec;
}

/// Whether an observer chooses one scale from the observed range.
bool isChosen(const ObserverSpec& spec)
{
    return (spec.kind == ObserverKind::Histogram || spec.kind == ObserverKind::MinMax
            || spec.kind == ObserverKind::MovingAverageMinMax)
        && !isPerChannel(spec.qscheme) && !spec.isDynamic && isIntegerDType(spec.dtype);
}

/// The noise that a value causes, over all its readers.
struct ValueShare
{
    double share = 0;
    double ownDb = kExactDb; ///< SQNR of the value itself
};

std::map<NodeId, ValueShare> sharesByMaker(const Blame& blame)
{
    std::map<NodeId, ValueShare> shares;
    for (const SiteBlame& one : blame.sites)
        if (one.site.kind == BlameSite::Kind::Value) {
            ValueShare& made = shares[one.site.node];
            made.share += one.expected;
            made.ownDb = std::min(made.ownDb, one.ownDb.value_or(kExactDb));
        }
    return shares;
}

struct Target
{
    const BlameSite* site = nullptr;
    ObserverSpec now;
    double share = 0; ///< with the present range
    std::vector<Proposal> ways {}; ///< other ways to choose the range
    std::vector<QParams> ranges {}; ///< what they choose, in the same order
};

std::vector<Target> targetsOf(const TuneSearch& search, const SiteFacts& facts, const Blame& blame)
{
    const auto shares = sharesByMaker(blame);
    const double all = expectedNoise(blame);
    std::vector<Target> targets;
    std::set<NodeId> seen;
    for (const SiteBlame& one : blame.sites) {
        const PlannedObserver* observer = facts.observer(one.site);
        if (one.site.kind != BlameSite::Kind::Value || !seen.insert(one.site.node).second
            || !observer || !isChosen(observer->spec) || !facts.stats(one.site)
            || shares.at(one.site.node).share < kLeastInspected * all)
            continue;
        const auto cure = facts.cureAt(CureKind::Range, one.site.node);
        const NodePlan* maker = facts.decided(one.site.node);
        if (!cure || !search.isAllowed(*cure) || (maker && maker->verdict == Verdict::Shared))
            continue;
        targets.push_back({&one.site, observer->spec, shares.at(one.site.node).share});
    }
    return targets;
}

/// The parameters that a calibration chose for the value of a site; null if no observer saw it.
const QParams* rangeAt(const Calibration& calibration, const BlameSite& site)
{
    for (const PlannedObserver& observer : calibration.prepared->plan->observers)
        for (const ObservedEdge& edge : observer.edges)
            if (edge.value == site.value && !observer.isWeight)
                if (const auto found = calibration.qparams.find(observer.id);
                    found != calibration.qparams.end() && found->second.calibrated
                    && !isPerChannel(found->second.qscheme))
                    return &found->second;
    return nullptr;
}

/// Adds what each way chooses for the targets that it suits.
Result<void> addWays(TuneSearch& search, const Trial& base, const SiteFacts& facts, bool allBits,
                     std::vector<Target>& targets)
{
    for (const RangeWay& way : kWays) {
        if (search.isSpent()) // decides by the ways so far
            return {};
        Trial trial = base;
        std::vector<std::pair<Target*, Proposal>> proposals;
        bool differs = false;
        for (Target& target : targets) {
            const ObserverSpec spec = observedIn(way, target.now, allBits);
            const auto found = facts.otherRange(*target.site, spec);
            if (spec == target.now || found.empty())
                continue;
            proposals.emplace_back(&target, found.front());
            differs = search.add(trial, found.front().cure, found.front().qconfig) || differs;
        }
        if (!differs)
            continue;
        search.job().report("tune", "ranges by " + std::string(rangeMethodName(way.method)), 0);
        QS_TRY(const CalibrationPtr calibration, search.calibrationOf(trial));
        for (auto& [target, proposal] : proposals)
            if (const QParams* range = rangeAt(*calibration, *target->site)) {
                target->ways.push_back(std::move(proposal));
                target->ranges.push_back(*range);
            }
    }
    return {};
}

/// The noise of each target's value with each of its ranges, over all its readers.
std::vector<std::vector<ValueShare>> sharesOfWays(const Blame& blame,
                                                  const std::vector<Target>& targets)
{
    std::map<NodeId, std::vector<const SiteBlame*>> sites;
    for (const SiteBlame& one : blame.sites)
        if (one.site.kind == BlameSite::Kind::Value)
            sites[one.site.node].push_back(&one);
    std::vector<std::vector<ValueShare>> shares;
    for (const Target& target : targets) {
        auto& ways = shares.emplace_back(target.ways.size());
        for (const SiteBlame* one : sites[target.site->node])
            for (std::size_t way = 0; way < ways.size(); ++way) {
                const bool isTried = way < one->tried.size();
                ways[way].share += isTried ? one->tried[way].share : one->expected;
                ways[way].ownDb
                    = std::min(ways[way].ownDb,
                               (isTried ? one->tried[way].ownDb : one->ownDb).value_or(kExactDb));
            }
    }
    return shares;
}

} // namespace

Result<std::vector<Proposal>> chooseRanges(TuneSearch& search, const Trial& base,
                                           const TrialModel& model, const Blame& blame)
{
    const DiagnosisParts parts = diagnosisParts(*model.calibration, blame, model.addresses);
    const SiteFacts facts(parts);
    std::vector<Target> targets = targetsOf(search, facts, blame);
    QS_CHECK(addWays(search, base, facts, parts.eightBitsHold, targets));
    RangesToTry tries;
    for (const Target& target : targets)
        if (!target.ranges.empty())
            tries[target.site->value] = target.ranges;
    std::vector<Proposal> chosen;
    if (tries.empty() || search.isSpent())
        return chosen;
    QS_TRY(const BlamePtr tried, search.blamed(model, base, 0, tries));
    const auto shares = sharesOfWays(*tried, targets);
    for (std::size_t i = 0; i < targets.size(); ++i) {
        Target& target = targets[i];
        std::optional<std::size_t> best;
        double least = target.share;
        for (std::size_t way = 0; way < target.ways.size(); ++way)
            if (const ValueShare& now = shares[i][way];
                now.share < kClearlyLess * least && now.ownDb >= kLeastOwnDb) {
                least = now.share;
                best = way;
            }
        if (best)
            chosen.push_back(std::move(target.ways[*best]));
    }
    return chosen;
}

} // namespace qs
