// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/ranges/value_alternatives.h"

#include "engine/base/decibels.h"
#include "engine/base/torch_guard.h"
#include "engine/calibrate/observers/derived_stats.h"
#include "engine/configure/qconfigs/derived_qconfig.h"
#include "engine/configure/qconfigs/observer_check.h"
#include "engine/convert/quantize_weights.h"
#include "engine/convert/ranges/choose_qparams.h"
#include "engine/convert/ranges/histogram_ranges.h"
#include "engine/convert/ranges/value_noise.h"
#include "engine/execute/interpreter.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <functional>

namespace qs {

namespace {

/// Returns the spec with the full range of its type, or with reduce_range.
ObserverSpec ofWidth(ObserverSpec spec, bool reduced)
{
    spec.quantMin.reset();
    spec.quantMax.reset();
    spec.reduceRange = reduced;
    return spec;
}

bool isEightBits(DType dtype)
{
    return dtype == DType::QUInt8 || dtype == DType::QInt8 || dtype == DType::UInt8
        || dtype == DType::Int8;
}

ObserverSpec ofScheme(ObserverSpec spec, bool symmetric)
{
    const bool channels = isPerChannel(spec.qscheme);
    if (symmetric) {
        spec.qscheme = channels ? QScheme::PerChannelSymmetric : QScheme::PerTensorSymmetric;
        if (spec.dtype == DType::QUInt8) // torch.ao does not accept reduce_range for it
            spec.reduceRange = false;
    } else {
        spec.qscheme = channels ? QScheme::PerChannelAffine : QScheme::PerTensorAffine;
    }
    return spec;
}

ObserverSpec sixteenBits(ObserverSpec spec)
{
    spec = ofWidth(std::move(spec), false);
    spec.groupSize = 0; // groups support at most eight bits
    spec.dtype = DType::Int16;
    return spec;
}

/// A list of distinct alternatives, with the loss of each.
class AlternativeList
{
public:
    using Measure = std::function<bool(Alternative&)>; ///< false: unknown

    AlternativeList(const ObserverSpec& now, Measure measure)
        : m_now(now)
        , m_measure(std::move(measure))
    {
    }

    void add(std::string name, const ObserverSpec& spec)
    {
        const auto same = [&](const Alternative& other) { return other.spec == spec; };
        if (std::any_of(m_found.begin(), m_found.end(), same))
            return;
        Alternative next;
        next.name = std::move(name);
        next.spec = spec;
        next.current = spec == m_now;
        if (m_measure(next))
            m_found.push_back(std::move(next));
    }

    /// Returns the list with the current way first, float last.
    std::vector<Alternative> finish()
    {
        std::stable_partition(m_found.begin(), m_found.end(),
                              [](const Alternative& one) { return one.current; });
        if (m_found.empty())
            return {};
        Alternative none;
        none.name = "float";
        none.spec = ObserverSpec {};
        none.spec.kind = ObserverKind::Placeholder;
        none.spec.dtype = DType::Float32;
        none.exactParameters = none.exactError = true;
        m_found.push_back(std::move(none));
        return std::move(m_found);
    }

private:
    const ObserverSpec& m_now;
    Measure m_measure;
    std::vector<Alternative> m_found;
};

std::string observerName(const ObserverSpec& spec)
{
    std::string name(observerKindName(spec.kind));
    if (spec.kind == ObserverKind::Histogram && spec.range != RangeMethod::Search)
        name += ", " + std::string(rangeMethodName(spec.range));
    return name;
}

void addWidthsAndSchemes(AlternativeList& list, const ObserverSpec& now)
{
    if (isEightBits(now.dtype)) {
        list.add("8 bits", ofWidth(now, false));
        if (!(isSymmetric(now.qscheme) && now.dtype == DType::QUInt8))
            list.add("7 bits", ofWidth(now, true));
    }
    if (isSymmetric(now.qscheme))
        list.add("affine", ofScheme(now, false));
    else if (now.qscheme != QScheme::PerChannelAffineFloatQParams)
        list.add("symmetric", ofScheme(now, true));
    list.add("16 bits", sixteenBits(now));
}

/// Returns the statistics from which parameters are chosen; sets `exact` if they equal torch.ao's.
ObserverStats statsFor(const ObserverStats& stats, const ObserverSpec& spec, bool& exact)
{
    exact = true;
    constexpr std::size_t kMost = kMostSearchedBins;
    auto derived = derivedStats(stats, spec);
    if (derived && (!triesEachBin(spec.range) || derived->exact.counts.size() <= kMost))
        return *derived;
    exact = false;
    ObserverStats out = stats;
    out.spec = spec;
    if (out.exact.empty())
        out.exact = stats.fine;
    if (triesEachBin(spec.range))
        out.exact = coarser(out.exact, kMost);
    return out;
}

/// Measures the error of a quantized weight, with sums in double.
bool measureWeight(const at::Tensor& weight, Alternative& one)
{
    const at::Tensor x = weight.detach().to(at::kCPU, at::kFloat).contiguous();
    std::vector<float> low, high;
    const bool channels = isPerChannel(one.spec.qscheme);
    const std::int64_t axis = one.spec.chAxis, group = one.spec.groupSize;
    if (channels && axis >= x.dim())
        return false;
    const at::Tensor rows = group > 0 ? x.reshape({-1, group})
        : channels                    ? x.transpose(0, axis).flatten(1)
                                      : x.flatten().unsqueeze(0);
    const at::Tensor least = rows.amin(1).contiguous(), most = rows.amax(1).contiguous();
    low.assign(least.data_ptr<float>(), least.data_ptr<float>() + least.numel());
    high.assign(most.data_ptr<float>(), most.data_ptr<float>() + most.numel());
    one.qparams = qparamsFromRange(one.spec, low, high);
    if (!one.qparams.floatZeroPoint.empty())
        return false;
    const QuantRange stored = group > 0 ? QuantRange {one.qparams.quantMin, one.qparams.quantMax}
                                        : storageRange(one.spec.dtype);
    double signal = 0, noise = 0;
    for (std::int64_t r = 0; r < rows.size(0); ++r) {
        const double scale = double(one.qparams.scale[std::size_t(r)]);
        const double zero = double(one.qparams.zeroPoint[std::size_t(r)]);
        const at::Tensor row = rows[r].to(at::kDouble);
        const at::Tensor kept
            = (row / scale).round_().add_(zero).clamp_(double(stored.min), double(stored.max));
        const at::Tensor off = kept.sub_(zero).mul_(scale).sub_(row);
        signal += row.square().sum().item<double>();
        noise += off.square().sum().item<double>();
    }
    if (signal > 0)
        one.sqnrDb = decibelsOf(signal, noise);
    one.exactParameters = one.exactError = true;
    return true;
}

std::vector<Alternative> weightAlternatives(const at::Tensor& weight, const ObserverSpec& now)
{
    AlternativeList list(now, [&](Alternative& one) { return measureWeight(weight, one); });
    list.add(observerName(now), now);
    ObserverSpec other = now;
    const bool channels = isPerChannel(now.qscheme);
    other.groupSize = 0;
    if (now.groupSize > 0)
        list.add("whole rows", other);
    other.kind = channels ? ObserverKind::MinMax : ObserverKind::PerChannelMinMax;
    const bool symmetric = isSymmetric(now.qscheme);
    if (channels)
        other.qscheme = symmetric ? QScheme::PerTensorSymmetric : QScheme::PerTensorAffine;
    else
        other.qscheme = symmetric ? QScheme::PerChannelSymmetric : QScheme::PerChannelAffine;
    list.add(channels ? "per tensor" : "per channel", other);
    addWidthsAndSchemes(list, now);
    return list.finish();
}

Alternative measuredValue(const ObserverStats& stats, const ObserverSpec& spec)
{
    Alternative one;
    one.spec = spec;
    one.qparams = chooseQParams(statsFor(stats, spec, one.exactParameters));
    const Histogram& counted = stats.fine.empty() ? stats.exact : stats.fine;
    if (const auto noise = valueNoise(counted, one.qparams, storageRange(spec.dtype)))
        one.sqnrDb = noise->sqnrDb();
    return one;
}

/// Returns the qconfig for an observer according to all rules except the edge or node rule that
/// decides it.
std::optional<NamedQConfig> withoutOwnRule(const PreparedModel& prepared, ObserverId id)
{
    const Graph& model = *prepared.model;
    const PlannedObserver& observer = prepared.plan->observers[id.value() - 1];
    const auto planOf = [&](NodeId node) { return prepared.plan->tryGet(model, node); };
    if (observer.rule.kind == RuleKind::Edge && !observer.edges.empty()) {
        const ValueRef value = observer.edges.front().value;
        std::vector<NodeId> ends {value.node};
        for (const Use& use : model.users(value))
            ends.push_back(use.node);
        for (const NodeId end : ends)
            if (const NodePlan* plan = planOf(end); plan && plan->qconfig)
                return NamedQConfig {plan->qconfigName, plan->qconfig};
        return std::nullopt;
    }
    if (observer.rule.kind != RuleKind::Node || observer.rule.fromBackend)
        return std::nullopt;
    const NodePlan* owner
        = planOf(observer.isWeight            ? observer.weightOwner
                     : observer.edges.empty() ? NodeId()
                                              : observer.edges.front().value.node);
    if (!owner || owner->overrides.empty() || !owner->overrides.front().qconfig.config)
        return std::nullopt;
    return owner->overrides.front().qconfig;
}

/// Marks the result of the other rules, or inserts it after the current way.
void addByRule(std::vector<Alternative>& found, const NamedQConfig& qconfig,
               const ObserverSpec& spec, const std::function<bool(Alternative&)>& measure)
{
    if (found.empty())
        return;
    const auto same = std::find_if(found.begin(), found.end(),
                                   [&](const Alternative& one) { return one.spec == spec; });
    if (same != found.end()) {
        same->byRule = !same->current;
        return;
    }
    Alternative one;
    one.spec = spec;
    if (!measure(one))
        return;
    one.name = "by rule (" + qconfig.name + ")";
    one.byRule = true;
    found.insert(found.begin() + (found.front().current ? 1 : 0), std::move(one));
}

/// Finds alternatives; keeps the reader of the model's weights.
class AlternativesFinder
{
public:
    AlternativesFinder(const PreparedModel& prepared, const Observations& observations,
                       const JobContext& job)
        : m_prepared(prepared)
        , m_observations(observations)
        , m_job(job)
    {
    }

    Result<std::vector<Alternative>> of(ObserverId id)
    {
        QS_CHECK(m_job.check());
        const ObserverStats* stats = m_observations.tryGet(id);
        const auto weight = m_prepared.observedWeight.find(id);
        const auto byRule = withoutOwnRule(m_prepared, id);
        if (weight == m_prepared.observedWeight.end()) {
            auto found = stats ? valueAlternatives(*stats) : std::vector<Alternative>();
            if (byRule && isIntegerDType(byRule->config->activation.dtype))
                addByRule(found, *byRule, byRule->config->activation, [&](Alternative& one) {
                    one = measuredValue(*stats, one.spec);
                    return true;
                });
            return found;
        }
        if (!stats || !isIntegerDType(stats->spec.dtype) || stats->spec.isDynamic)
            return std::vector<Alternative>();
        if (!m_interpreter) {
            QS_TRY(m_interpreter, Interpreter::create(m_prepared.graph));
        }
        QS_TRY(const at::IValue value, m_interpreter->computeConstant(weight->second));
        if (!value.isTensor())
            return std::vector<Alternative>();
        return guardTorchValue<std::vector<Alternative>>([&] {
            auto found = weightAlternatives(value.toTensor(), stats->spec);
            if (byRule && isIntegerDType(byRule->config->weight.dtype))
                addByRule(found, *byRule, byRule->config->weight,
                          [&](Alternative& one) { return measureWeight(value.toTensor(), one); });
            return found;
        });
    }

private:
    const PreparedModel& m_prepared;
    const Observations& m_observations;
    const JobContext& m_job;
    std::optional<Interpreter> m_interpreter;
};

} // namespace

std::vector<Alternative> valueAlternatives(const ObserverStats& stats)
{
    const Histogram& counted = stats.fine.empty() ? stats.exact : stats.fine;
    const ObserverSpec& now = stats.spec;
    if (counted.empty() || !stats.everRan() || isPerChannel(now.qscheme) || now.isDynamic
        || !isIntegerDType(now.dtype))
        return {};
    AlternativeList list(now, [&](Alternative& one) {
        const Alternative measured = measuredValue(stats, one.spec);
        one.qparams = measured.qparams;
        one.sqnrDb = measured.sqnrDb;
        one.exactParameters = measured.exactParameters;
        return true;
    });
    list.add(observerName(now), now);
    ObserverSpec base = now;
    if (base.kind == ObserverKind::FixedQParams)
        base = ofWidth(base, false);
    const auto observed = [&](ObserverKind kind, RangeMethod range) {
        const ObserverSpec spec = observedBy(base, kind, range);
        list.add(observerName(spec), spec);
    };
    for (const RangeMethod range :
         {RangeMethod::Search, RangeMethod::Mse, RangeMethod::Entropy, RangeMethod::Percentile})
        observed(ObserverKind::Histogram, range);
    observed(ObserverKind::MinMax, RangeMethod::Search);
    observed(ObserverKind::MovingAverageMinMax, RangeMethod::Search);
    if (now.kind != ObserverKind::FixedQParams)
        addWidthsAndSchemes(list, now);
    return list.finish();
}

Result<std::vector<Alternative>> alternativesOf(const PreparedModel& prepared,
                                                const Observations& observations, ObserverId id,
                                                const JobContext& job)
{
    return AlternativesFinder(prepared, observations, job).of(id);
}

Result<AlternativesTable> allAlternatives(const PreparedModel& prepared,
                                          const Observations& observations, const JobContext& job)
{
    AlternativesFinder finder(prepared, observations, job);
    AlternativesTable out;
    for (const PlannedObserver& observer : prepared.plan->observers) {
        QS_TRY(std::vector<Alternative> found, finder.of(observer.id));
        if (!found.empty())
            out.emplace(observer.id, std::move(found));
    }
    return out;
}

} // namespace qs
