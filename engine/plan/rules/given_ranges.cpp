// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/rules/given_ranges.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace qs {

namespace {

constexpr std::int64_t kShift = 128; ///< between int8 and uint8

/// Whether a rule for the node or the edge decides, which overrides the file.
bool hasOwnRule(const PlannedObserver& observer)
{
    return observer.rule.kind == RuleKind::Node || observer.rule.kind == RuleKind::Edge;
}

/// Whether the observer quantizes to the integers that the range was trained for.
bool isTrainedFor(const GivenObservation& given, const ObserverSpec& spec)
{
    return quantRange(spec) == QuantRange {given.quantMin, given.quantMax}
    && isSymmetric(spec.qscheme) == given.isSymmetric
        && isPerChannel(spec.qscheme) == given.isPerChannel;
}

bool takesRange(const PlannedObserver& observer)
{
    const ObserverSpec& spec = observer.spec;
    const bool isByte = spec.dtype == DType::QInt8 || spec.dtype == DType::QUInt8;
    return isByte && !spec.isDynamic && spec.groupSize == 0 && choosesQParams(spec.kind)
        && spec.kind != ObserverKind::FixedQParams;
}

bool isRead(const GivenObservation& given, NodeId by)
{
    return std::find(given.readers.begin(), given.readers.end(), by) != given.readers.end();
}

bool isOf(const GivenObservation& given, const PlannedObserver& observer)
{
    if (given.interior != observer.interior)
        return false;
    if (!given.interior.empty() || (observer.isWeight && given.isWeight))
        return isRead(given, observer.weightOwner);
    return std::any_of(observer.edges.begin(), observer.edges.end(), [&](const ObservedEdge& edge) {
        if (edge.value != given.value)
            return false;
        if (!given.isSecond)
            return true;
        return std::any_of(edge.readers.begin(), edge.readers.end(),
                           [&](const Use& use) { return isRead(given, use.node); });
    });
}

bool fitsByte(const GivenObservation& given)
{
    return given.quantMax > given.quantMin
        && (given.quantMin < 0 ? given.quantMin >= -128 && given.quantMax <= 127
                               : given.quantMax <= 255);
}

bool hasSameRange(const GivenObservation& a, const GivenObservation& b)
{
    return a.min == b.min && a.max == b.max && a.quantMin == b.quantMin && a.quantMax == b.quantMax;
}

/// Splits an observer at the first edge with another given range: the rest gets a separate
/// observer. Edges without a range stay with the edge before them.
void splitByRange(const Graph& model, Plan& plan)
{
    for (std::size_t i = 0; i < plan.observers.size(); ++i) { // grows
        PlannedObserver first = plan.observers[i];
        if (first.isWeight || first.edges.size() < 2 || !givenFor(model, first))
            continue;
        PlannedObserver rest = first;
        first.edges.clear();
        rest.edges.clear();
        const GivenObservation* range = nullptr;
        for (const ObservedEdge& edge : plan.observers[i].edges) {
            PlannedObserver one = plan.observers[i];
            one.edges = {edge};
            const GivenObservation* given = givenFor(model, one);
            if (!range)
                range = given;
            const bool isOther = given && range && !hasSameRange(*given, *range);
            const bool follows = !given && !rest.edges.empty();
            (isOther || follows ? rest : first).edges.push_back(edge);
        }
        if (rest.edges.empty())
            continue;
        plan.observers[i] = std::move(first);
        rest.id = ObserverId(std::uint32_t(plan.observers.size() + 1));
        plan.observers.push_back(std::move(rest));
    }
}

std::set<const GivenObservation*> usedRanges(const Graph& model, const Plan& plan)
{
    std::set<const GivenObservation*> used;
    for (const PlannedObserver& observer : plan.observers) {
        const bool isFixed = observer.spec.kind == ObserverKind::FixedQParams;
        if (!isFixed && !givenFor(model, observer))
            continue;
        for (const GivenObservation& given : givenObservations(model)) // of all that share it
            if (isOf(given, observer))
                used.insert(&given);
    }
    return used;
}

} // namespace

const GivenObservation* givenFor(const Graph& model, const PlannedObserver& observer)
{
    const GivenObservations& all = givenObservations(model);
    if (all.empty() || !takesRange(observer))
        return nullptr;
    const bool hasRule = hasOwnRule(observer);
    if (hasRule && !model.info().trained)
        return nullptr;
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& given) {
        return fitsByte(given) && isOf(given, observer)
            && (!hasRule || isTrainedFor(given, observer.spec));
    });
    return found == all.end() ? nullptr : &*found;
}

GivenRange givenRange(const GivenObservation& given, const ObserverSpec& planned)
{
    GivenRange out {planned, given.min, given.max};
    ObserverSpec& spec = out.spec;
    const bool hasFloatPoint = planned.qscheme == QScheme::PerChannelAffineFloatQParams;
    const std::int64_t shift = given.quantMin < 0 && planned.dtype == DType::QUInt8 ? kShift
        : given.quantMin >= 0 && planned.dtype == DType::QInt8                      ? -kShift
                                                                                    : 0;
    const bool isSymmetric = given.isSymmetric && shift == 0;
    const bool averages = given.averaging > 0;
    if (given.isPerChannel)
        spec.kind = averages ? ObserverKind::MovingAveragePerChannelMinMax
                             : ObserverKind::PerChannelMinMax;
    else
        spec.kind = averages ? ObserverKind::MovingAverageMinMax : ObserverKind::MinMax;
    if (averages)
        spec.averagingConstant = given.averaging;
    spec.fakeQuantize = FakeQuantize::None;
    if (!hasFloatPoint)
        spec.qscheme = given.isPerChannel
            ? (isSymmetric ? QScheme::PerChannelSymmetric : QScheme::PerChannelAffine)
            : (isSymmetric ? QScheme::PerTensorSymmetric : QScheme::PerTensorAffine);
    spec.quantMin = given.quantMin + shift;
    spec.quantMax = given.quantMax + shift;
    spec.reduceRange = false;
    spec.eps = given.eps;
    spec.chAxis = given.axis;
    if (given.isSymmetric && shift != 0)
        for (std::size_t i = 0; i < out.min.size(); ++i) {
            const float reach = std::max(std::abs(out.min[i]), std::abs(out.max[i]));
            const float scale = reach / (float(given.quantMax - given.quantMin) / 2);
            out.min[i] = float(given.quantMin) * scale;
            out.max[i] = float(given.quantMax) * scale;
        }
    return out;
}

void takeGivenSpecs(const Graph& model, Plan& plan)
{
    if (givenObservations(model).empty())
        return;
    splitByRange(model, plan);
    for (PlannedObserver& observer : plan.observers)
        if (const GivenObservation* given = givenFor(model, observer))
            observer.spec = givenRange(*given, observer.spec).spec;
    const auto used = usedRanges(model, plan);
    const GivenObservations& all = givenObservations(model);
    const auto unused = std::find_if(all.begin(), all.end(),
                                     [&](const auto& one) { return !used.contains(&one); });
    if (unused == all.end())
        return;
    const Node& node = model.get(unused->value.node);
    plan.findings.push_back(
        {node.id, "unused_fake_quantizer",
         node.name + ": the range of the file's fake quantizer is not used, as these decisions "
             + "observe no 8-bit range there; of " + std::to_string(all.size())
             + " fake quantizers with a range " + std::to_string(all.size() - used.size())
             + " are not used"});
}

GivenCount countGiven(const Graph& model, const Plan& plan)
{
    return {int(usedRanges(model, plan).size()), int(givenObservations(model).size())};
}

} // namespace qs
