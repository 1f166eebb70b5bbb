// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/remedy.h"

#include "engine/base/text.h"
#include "engine/configure/backend/target.h"
#include "engine/configure/qconfigs/derived_qconfig.h"
#include "engine/plan/rules/node_rules.h"

#include <algorithm>

namespace qs {

namespace {

/// Limits a spec's range to that of its dtype and the backend's bounds.
void fitRange(ObserverSpec& spec, const DTypeWithConstraints& want)
{
    if (!want.quantMinLowerBound && !want.quantMaxUpperBound)
        return;
    const QuantRange given = quantRange(spec);
    const std::int64_t low = std::max(given.min, want.quantMinLowerBound.value_or(given.min));
    const std::int64_t high = std::min(given.max, want.quantMaxUpperBound.value_or(given.max));
    if (low == given.min && high == given.max && spec.kind != ObserverKind::Placeholder)
        return;
    spec.quantMin = low;
    spec.quantMax = high;
    spec.reduceRange = false;
}

void fitScale(ObserverSpec& spec, const DTypeWithConstraints& want)
{
    if (want.scaleExactMatch || want.zeroPointExactMatch) {
        const ObserverSpec before = spec;
        spec.kind = ObserverKind::FixedQParams;
        spec.qscheme = QScheme::PerTensorAffine;
        const bool fixed = before.kind == ObserverKind::FixedQParams;
        spec.scale = want.scaleExactMatch.value_or(fixed ? before.scale : 1.0 / 256);
        spec.zeroPoint = want.zeroPointExactMatch.value_or(fixed ? before.zeroPoint : 0);
        const QuantRange range = quantRange(spec);
        spec.quantMin = range.min;
        spec.quantMax = range.max;
        return;
    }
    if (want.scaleMinLowerBound && spec.eps < *want.scaleMinLowerBound)
        spec.eps = *want.scaleMinLowerBound;
    if (want.scaleMaxUpperBound && spec.eps > *want.scaleMaxUpperBound)
        spec.eps = *want.scaleMaxUpperBound;
}

void changeDType(ObserverSpec& spec, DType dtype)
{
    if (spec.dtype == dtype)
        return;
    spec.dtype = dtype;
    spec.quantMin.reset();
    spec.quantMax.reset();
}

void fitActivation(ObserverSpec& spec, const DTypeConfig& config)
{
    const DTypeWithConstraints& want = config.input;
    if (!want.dtype)
        return;
    const bool integer = isIntegerDType(*want.dtype);
    if (config.isDynamic || !integer) {
        if (spec.kind != ObserverKind::Placeholder)
            spec = ObserverSpec {};
        spec.kind = ObserverKind::Placeholder;
    } else if (spec.kind == ObserverKind::Placeholder || spec.kind == ObserverKind::ReuseInput) {
        spec = ObserverSpec {};
        spec.kind = ObserverKind::Histogram;
    }
    spec.isDynamic = config.isDynamic;
    changeDType(spec, *want.dtype);
    fitRange(spec, want);
    fitScale(spec, want);
    if (config.output.dtype && !config.isDynamic) {
        fitRange(spec, config.output);
        fitScale(spec, config.output);
    }
}

void fitWeight(ObserverSpec& spec, const DTypeWithConstraints& want)
{
    if (!want.dtype)
        return;
    const bool integer = isIntegerDType(*want.dtype);
    if (!integer) {
        spec = ObserverSpec {};
        spec.kind = ObserverKind::Placeholder;
    } else if (spec.kind == ObserverKind::Placeholder) {
        spec = ObserverSpec {};
        spec.qscheme = QScheme::PerTensorSymmetric;
    }
    changeDType(spec, *want.dtype);
    fitRange(spec, want);
    fitScale(spec, want);
}

void describe(const char* what, const ObserverSpec& from, const ObserverSpec& to,
              std::vector<std::string>& out)
{
    const std::string prefix = std::string(" ") + what + " ";
    if (from.kind != to.kind)
        out.push_back("use" + prefix + "observer " + std::string(observerKindName(to.kind)));
    if (from.dtype != to.dtype)
        out.push_back("use" + prefix + "dtype " + std::string(dtypeName(to.dtype)));
    if (from.isDynamic != to.isDynamic)
        out.push_back(std::string("make the ") + what + (to.isDynamic ? " dynamic" : " static"));
    if (to.kind == ObserverKind::FixedQParams
        && (from.scale != to.scale || from.zeroPoint != to.zeroPoint || from.kind != to.kind))
        out.push_back("set" + prefix + "scale to " + numberText(to.scale) + " and zero_point to "
                      + std::to_string(to.zeroPoint));
    if (to.quantMin && to.quantMax && quantRange(from) != quantRange(to))
        out.push_back("set" + prefix + "quant_min to " + std::to_string(*to.quantMin)
                      + " and quant_max to " + std::to_string(*to.quantMax));
    if (from.eps != to.eps)
        out.push_back("set" + prefix + "eps to " + numberText(to.eps));
}

} // namespace

std::optional<QConfig> fitQConfig(const BackendPattern& entry, const QConfig& wish,
                                  const OperandFacts& facts)
{
    for (const bool sameMode : {true, false})
        for (const DTypeConfig& config : entry.dtypeConfigs) {
            if ((config.isDynamic == wish.activation.isDynamic) != sameMode)
                continue;
            QConfig fitted = wish;
            fitActivation(fitted.activation, config);
            if (facts.functionalWeight || facts.moduleWeight)
                fitWeight(fitted.weight, config.weight);
            if (chooseDTypeConfig(entry, fitted, facts).index >= 0)
                return fitted;
        }
    return std::nullopt;
}

std::string describeChange(const QConfig& from, const QConfig& to)
{
    std::vector<std::string> changes;
    describe("activation", from.activation, to.activation, changes);
    describe("weight", from.weight, to.weight, changes);
    std::string text;
    for (const std::string& change : changes)
        text += (text.empty() ? "" : ", ") + change;
    return text;
}

Recipe applyRemedy(const Recipe& recipe, const Graph& graph, const Plan& plan, NodeId node)
{
    const NodePlan* found = plan.tryGet(graph, node);
    if (!found || !found->remedy)
        return recipe;
    Recipe out = recipe;
    if (found->remedy.fold) {
        EditStep& step = out.edits.emplace_back();
        step.kind = EditKind::Fold;
        step.within = *found->remedy.fold;
        return out;
    }
    if (found->remedy.replaceEvery) {
        EditStep& step = out.edits.emplace_back();
        step.kind = EditKind::ReplaceEvery;
        step.every = step.op = *found->remedy.replaceEvery;
        return out;
    }
    if (found->remedy.keepFloat) {
        setNodeRules(out, graph, decidedTogether(graph, plan, node), {});
        return out;
    }
    std::string from = found->qconfigName.empty() ? found->rule.qconfig.name : found->qconfigName;
    if (from.empty())
        from = presetOf(recipe.target());
    const NamedQConfig named
        = addQConfig(out, *found->remedy.qconfig, (from.empty() ? "own" : from) + "_fit");
    setNodeRules(out, graph, decidedTogether(graph, plan, node), named);
    return out;
}

} // namespace qs
