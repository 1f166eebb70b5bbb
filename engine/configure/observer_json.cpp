// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/observer_json.h"

#include "engine/configure/nearest_name.h"

#include <cmath>

namespace qs {

namespace {

const std::vector<std::string> kObserverWords {"minmax",        "moving_average_minmax",
                                               "histogram",     "per_channel_minmax",
                                               "fixed_qparams", "moving_average_per_channel_minmax",
                                               "placeholder",   "reuse_input"};
const std::vector<std::string> kSchemeWords {"per_tensor_affine", "per_tensor_symmetric",
                                             "per_channel_affine", "per_channel_symmetric",
                                             "per_channel_affine_float_qparams"};
const std::vector<std::string> kDTypeWords {"quint8", "qint8",   "qint32",  "quint4x2",
                                            "uint8",  "int8",    "int16",   "int32",
                                            "uint16", "float16", "float32", "bfloat16"};

bool isChannelKind(ObserverKind kind)
{
    return kind == ObserverKind::PerChannelMinMax
        || kind == ObserverKind::MovingAveragePerChannelMinMax;
}

bool isMovingAverage(ObserverKind kind)
{
    return kind == ObserverKind::MovingAverageMinMax
        || kind == ObserverKind::MovingAveragePerChannelMinMax;
}

std::vector<std::string> keysOf(ObserverKind kind)
{
    std::vector<std::string> keys {"observer"};
    const auto add = [&keys](std::initializer_list<const char*> more) {
        keys.insert(keys.end(), more.begin(), more.end());
    };
    if (kind == ObserverKind::ReuseInput)
        return keys;
    add({"dtype", "qscheme", "quant_min", "quant_max"});
    if (kind == ObserverKind::FixedQParams) {
        add({"scale", "zero_point"});
        return keys;
    }
    add({"eps", "is_dynamic"});
    if (kind == ObserverKind::Placeholder)
        return keys;
    add({"reduce_range"});
    if (isChannelKind(kind))
        add({"ch_axis"});
    if (isMovingAverage(kind))
        add({"averaging_constant"});
    if (kind == ObserverKind::Histogram)
        add({"bins"});
    return keys;
}

ObserverSpec defaultsOf(ObserverKind kind)
{
    ObserverSpec spec;
    spec.kind = kind;
    if (isChannelKind(kind))
        spec.qscheme = QScheme::PerChannelAffine;
    if (kind == ObserverKind::Placeholder)
        spec.dtype = DType::Float32;
    if (kind == ObserverKind::FixedQParams) {
        spec.quantMin = 0;
        spec.quantMax = 255;
    }
    return spec;
}

Result<QScheme> readScheme(const JsonPlace& place)
{
    QS_TRY(const std::string name, place.string());
    if (const auto scheme = qschemeFromName(name))
        return *scheme;
    return place.error("unknown qscheme '" + name + "'", suggestName(name, kSchemeWords));
}

Result<void> checkRange(const JsonPlace& place, const ObserverSpec& spec)
{
    if (spec.quantMin.has_value() != spec.quantMax.has_value())
        return place.error("'quant_min' and 'quant_max' belong together", "give both or neither");
    if (!spec.quantMin)
        return {};
    const std::string range
        = std::to_string(*spec.quantMin) + ".." + std::to_string(*spec.quantMax);
    if (*spec.quantMin >= *spec.quantMax)
        return place.error("the range " + range + " is empty",
                           "quant_min must lie below quant_max");
    if (*spec.quantMin > 0 || *spec.quantMax < 0)
        return place.error("the range " + range + " does not hold 0");
    if (!isIntegerDType(spec.dtype))
        return {};
    ObserverSpec whole;
    whole.dtype = spec.dtype;
    const QuantRange limits = quantRange(whole);
    if (*spec.quantMin < limits.min || *spec.quantMax > limits.max)
        return place.error(
            "the range " + range + " does not fit " + std::string(dtypeName(spec.dtype)),
            "it holds " + std::to_string(limits.min) + ".." + std::to_string(limits.max));
    return {};
}

Result<void> checkObserver(const JsonPlace& place, const ObserverSpec& spec)
{
    const bool observing
        = spec.kind != ObserverKind::Placeholder && spec.kind != ObserverKind::ReuseInput;
    const std::string kind(observerKindName(spec.kind));
    if (observing && isChannelKind(spec.kind) != isPerChannel(spec.qscheme))
        return place.error(
            "observer '" + kind + "' cannot give '" + std::string(qschemeName(spec.qscheme)) + "'",
            isChannelKind(spec.kind) ? "use a per_channel scheme" : "use a per_tensor scheme");
    if (observing && !isIntegerDType(spec.dtype))
        return place.error("observer '" + kind + "' needs an integer dtype, not "
                               + std::string(dtypeName(spec.dtype)),
                           "use quint8 or qint8, or the observer 'placeholder'");
    if (!(spec.eps > 0) || !std::isfinite(spec.eps))
        return place.error("'eps' must be above 0");
    if (!(spec.scale > 0) || !std::isfinite(spec.scale))
        return place.error("'scale' must be above 0");
    if (spec.bins < 2)
        return place.error("'bins' must be at least 2");
    if (spec.averagingConstant < 0 || spec.averagingConstant > 1)
        return place.error("'averaging_constant' must lie between 0 and 1");
    return checkRange(place, spec);
}

Result<int> readSmallInt(const JsonPlace& place)
{
    QS_TRY(const std::int64_t value, place.integer());
    if (value < -1000000 || value > 1000000)
        return place.error("the number is out of range");
    return int(value);
}

Result<void> readNumbers(const JsonPlace& place, ObserverSpec& spec)
{
    if (place.has("quant_min")) {
        QS_TRY(spec.quantMin, place.key("quant_min").integer());
    }
    if (place.has("quant_max")) {
        QS_TRY(spec.quantMax, place.key("quant_max").integer());
    }
    if (place.has("reduce_range")) {
        QS_TRY(spec.reduceRange, place.key("reduce_range").boolean());
    }
    if (place.has("is_dynamic")) {
        QS_TRY(spec.isDynamic, place.key("is_dynamic").boolean());
    }
    if (place.has("eps")) {
        QS_TRY(spec.eps, place.key("eps").number());
    }
    if (place.has("ch_axis")) {
        QS_TRY(spec.chAxis, readSmallInt(place.key("ch_axis")));
    }
    if (place.has("averaging_constant")) {
        QS_TRY(spec.averagingConstant, place.key("averaging_constant").number());
    }
    if (place.has("bins")) {
        QS_TRY(spec.bins, readSmallInt(place.key("bins")));
    }
    if (place.has("scale")) {
        QS_TRY(spec.scale, place.key("scale").number());
    }
    if (place.has("zero_point")) {
        QS_TRY(spec.zeroPoint, place.key("zero_point").integer());
    }
    return {};
}

} // namespace

Result<DType> readDType(const JsonPlace& place)
{
    QS_TRY(const std::string name, place.string());
    if (const auto dtype = dtypeFromName(name))
        return *dtype;
    return place.error("unknown dtype '" + name + "'", suggestName(name, kDTypeWords));
}

Result<ObserverSpec> readObserver(const JsonPlace& place)
{
    if (!place.value().is_object())
        return place.error("an observer is an object",
                           "for example {\"observer\": \"minmax\", \"dtype\": \"quint8\"}");
    if (!place.has("observer"))
        return place.error("the key 'observer' is missing", suggestName("", kObserverWords));
    QS_TRY(const std::string name, place.key("observer").string());
    const auto kind = observerKindFromName(name);
    if (!kind)
        return place.key("observer")
            .error("unknown observer '" + name + "'", suggestName(name, kObserverWords));
    QS_CHECK(place.object(keysOf(*kind)));
    ObserverSpec spec = defaultsOf(*kind);
    if (place.has("dtype")) {
        QS_TRY(spec.dtype, readDType(place.key("dtype")));
    }
    if (place.has("qscheme")) {
        QS_TRY(spec.qscheme, readScheme(place.key("qscheme")));
    }
    QS_CHECK(readNumbers(place, spec));
    QS_CHECK(checkObserver(place, spec));
    return spec;
}

Result<QConfig> readQConfig(const JsonPlace& place)
{
    QS_CHECK(place.object({"activation", "weight"}));
    for (const char* part : {"activation", "weight"})
        if (!place.has(part))
            return place.error("the key '" + std::string(part) + "' is missing");
    QConfig qconfig;
    QS_TRY(qconfig.activation, readObserver(place.key("activation")));
    QS_TRY(qconfig.weight, readObserver(place.key("weight")));
    return qconfig;
}

Json observerToJson(const ObserverSpec& spec)
{
    const ObserverSpec usual = defaultsOf(spec.kind);
    Json out {{"observer", observerKindName(spec.kind)}};
    if (spec.kind == ObserverKind::ReuseInput)
        return out;
    out["dtype"] = dtypeName(spec.dtype);
    out["qscheme"] = qschemeName(spec.qscheme);
    if (spec.quantMin && spec.quantMin != usual.quantMin)
        out["quant_min"] = *spec.quantMin;
    if (spec.quantMax && (spec.quantMax != usual.quantMax || out.contains("quant_min")))
        out["quant_max"] = *spec.quantMax;
    if (out.contains("quant_max") && !out.contains("quant_min"))
        out["quant_min"] = *spec.quantMin;
    if (spec.reduceRange)
        out["reduce_range"] = true;
    if (spec.eps != usual.eps)
        out["eps"] = spec.eps;
    if (isChannelKind(spec.kind))
        out["ch_axis"] = spec.chAxis;
    if (spec.averagingConstant != usual.averagingConstant)
        out["averaging_constant"] = spec.averagingConstant;
    if (spec.bins != usual.bins)
        out["bins"] = spec.bins;
    if (spec.kind == ObserverKind::FixedQParams) {
        out["scale"] = spec.scale;
        out["zero_point"] = spec.zeroPoint;
    }
    if (spec.isDynamic)
        out["is_dynamic"] = true;
    return out;
}

Json qconfigToJson(const QConfig& qconfig)
{
    return Json {{"activation", observerToJson(qconfig.activation)},
                 {"weight", observerToJson(qconfig.weight)}};
}

} // namespace qs
