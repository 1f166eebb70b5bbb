// SPDX-License-Identifier: Apache-2.0
#include "engine/runs/qconfig_words.h"

#include "engine/base/text.h"

#include <algorithm>
#include <vector>

namespace qs {

namespace {

std::string endText(double value)
{
    const std::string text = numberText(value, 3);
    return text.starts_with('-') ? "−" + text.substr(1) : text;
}

std::string plainName(std::string_view name)
{
    std::string text(name);
    std::replace(text.begin(), text.end(), '_', ' ');
    return text;
}

std::string methodWords(const ObserverSpec& spec)
{
    std::string text = "range by " + plainName(rangeMethodName(spec.range));
    if (spec.range == RangeMethod::Percentile)
        text += ' ' + numberText(spec.percentile);
    return text;
}

std::string observerWords(const ObserverSpec& spec, const ObserverSpec& base)
{
    std::vector<std::string> parts;
    const auto add = [&parts](bool differs, const std::string& words) {
        if (differs)
            parts.push_back(words);
    };
    const bool isFixed = spec.kind == ObserverKind::FixedQParams;
    const bool isOther
        = spec.kind != base.kind || spec.scale != base.scale || spec.zeroPoint != base.zeroPoint;
    const QuantRange integers = quantRange(spec);
    add(isFixed && isOther, "range " + fixedRangeText(spec));
    add(!isFixed && spec.kind != base.kind, plainName(observerKindName(spec.kind)));
    add(spec.kind == ObserverKind::Histogram
            && (spec.range != base.range || spec.percentile != base.percentile),
        methodWords(spec));
    add(spec.dtype != base.dtype, std::string(dtypeName(spec.dtype)));
    add(spec.qscheme != base.qscheme, plainName(qschemeName(spec.qscheme)));
    add(!(integers == quantRange(base)),
        "integers " + endText(double(integers.min)) + "…" + endText(double(integers.max)));
    add(spec.eps != base.eps, "smallest scale " + numberText(spec.eps, 3));
    add(spec.groupSize != base.groupSize, "groups of " + std::to_string(spec.groupSize));
    add(spec.isDynamic != base.isDynamic, spec.isDynamic ? "dynamic" : "static");
    add(spec.fakeQuantize != base.fakeQuantize, "other fake quantization");
    add(parts.empty() && !(spec == base),
        "other settings of " + plainName(observerKindName(spec.kind)));
    std::string text;
    for (const std::string& part : parts)
        text += (text.empty() ? "" : ", ") + part;
    return text;
}

} // namespace

std::string fixedRangeText(const ObserverSpec& spec)
{
    const QuantRange integers = quantRange(spec);
    const auto end = [&spec](std::int64_t integer) {
        return endText(double(integer - spec.zeroPoint) * spec.scale);
    };
    return end(integers.min) + "…" + end(integers.max);
}

std::string qconfigWords(const QConfig& qconfig, const QConfig& base)
{
    const std::string activations = observerWords(qconfig.activation, base.activation);
    const std::string weights = observerWords(qconfig.weight, base.weight);
    std::string text = activations.empty() ? "" : "activations " + activations;
    if (!weights.empty())
        text += (text.empty() ? "weights " : "; weights ") + weights;
    if (qconfig.floatResult != base.floatResult)
        text += (text.empty() ? "" : "; ")
            + std::string(qconfig.floatResult ? "float result" : "quantized result");
    return text;
}

bool fixesRangeAlone(const QConfig& qconfig, const QConfig& base)
{
    return qconfig.activation.kind == ObserverKind::FixedQParams && qconfig.weight == base.weight
        && qconfig.floatResult == base.floatResult
        && qconfig.activation.dtype == base.activation.dtype;
}

} // namespace qs
