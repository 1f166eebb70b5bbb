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
    double share = 0; ///< least share so far
    std::optional<Proposal> best;
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
        targets.push_back(
            {&one.site, observer->spec, shares.at(one.site.node).share, std::nullopt});
    }
    return targets;
}

} // namespace

Result<std::vector<Proposal>> chooseRanges(TuneSearch& search, const Trial& base,
                                           const TrialModel& model, const Blame& blame)
{
    const DiagnosisParts parts = diagnosisParts(*model.calibration, blame, search.request().file);
    const SiteFacts facts(parts);
    std::vector<Target> targets = targetsOf(search, facts, blame);
    for (const RangeWay& way : kWays) {
        if (search.isSpent()) // decides by the ways tried so far
            break;
        Trial trial = base;
        std::vector<std::optional<Proposal>> proposals(targets.size());
        bool differs = false;
        for (std::size_t i = 0; i < targets.size(); ++i) {
            const ObserverSpec spec = observedIn(way, targets[i].now, parts.eightBitsHold);
            const auto found = facts.otherRange(*targets[i].site, spec);
            if (spec == targets[i].now || found.empty())
                continue;
            proposals[i] = found.front();
            differs = search.add(trial, found.front().cure, found.front().qconfig) || differs;
        }
        if (!differs)
            continue;
        search.job().report("tune", "ranges by " + std::string(rangeMethodName(way.method)), 0);
        QS_TRY(const BlamePtr other, search.blamedOf(trial, base));
        const auto shares = sharesByMaker(*other);
        for (std::size_t i = 0; i < targets.size(); ++i) {
            const auto share = shares.find(targets[i].site->node);
            const ValueShare now = share == shares.end() ? ValueShare {} : share->second;
            if (proposals[i] && now.share < kClearlyLess * targets[i].share
                && now.ownDb >= kLeastOwnDb) {
                targets[i].share = now.share;
                targets[i].best = std::move(proposals[i]);
            }
        }
    }
    std::vector<Proposal> chosen;
    for (Target& target : targets)
        if (target.best)
            chosen.push_back(std::move(*target.best));
    return chosen;
}

} // namespace qs
