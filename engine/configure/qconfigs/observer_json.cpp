// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/qconfigs/observer_json.h"

#include "engine/base/json/json_fields.h"
#include "engine/base/json/nearest_name.h"
#include "engine/configure/keys/key_table.h"
#include "engine/configure/qconfigs/observer_check.h"

namespace qs {

namespace {

const std::vector<std::string> kSchemeWords {"per_tensor_affine", "per_tensor_symmetric",
                                             "per_channel_affine", "per_channel_symmetric",
                                             "per_channel_affine_float_qparams"};
const std::vector<std::string> kDTypeWords {"quint8", "qint8",   "qint32",  "quint4x2",
                                            "uint8",  "int8",    "int16",   "int32",
                                            "uint16", "float16", "float32", "bfloat16"};

ObserverSpec defaultsOf(ObserverKind kind)
{
    ObserverSpec spec;
    spec.kind = kind;
    if (isChannelKind(kind))
        spec.qscheme = QScheme::PerChannelAffine;
    if (kind == ObserverKind::Placeholder || kind == ObserverKind::Identity)
        spec.dtype = DType::Float32;
    if (kind == ObserverKind::Noop)
        spec.dtype = DType::Float16;
    if (kind == ObserverKind::FixedQParams) {
        spec.quantMin = 0;
        spec.quantMax = 255;
    }
    return spec;
}

std::vector<std::string> observerWords()
{
    std::vector<std::string> words = observerKindNames();
    for (auto& name : fakeQuantizeNames())
        words.push_back(std::move(name));
    return words;
}

/// True if the key has a value other than null (torch.ao's None: "not given").
bool given(const JsonPlace& place, const char* key)
{
    return place.has(key) && !place.value().at(key).is_null();
}

Result<QScheme> readScheme(const JsonPlace& place)
{
    QS_TRY(const std::string name, place.string());
    if (const auto scheme = qschemeFromName(name))
        return *scheme;
    return place.error("unknown qscheme '" + name + "'", suggestName(name, kSchemeWords));
}

Result<int> readSmallInt(const JsonPlace& place)
{
    QS_TRY(const std::int64_t value, place.integer());
    if (value < -1000000 || value > 1000000)
        return place.error("the number is out of range");
    return int(value);
}

Result<int> readGroupSize(const JsonPlace& place)
{
    QS_TRY(const int size, readSmallInt(place));
    if (size < 2)
        return place.error("a group has at least 2 values", "for example 32; left out: whole rows");
    return size;
}

Result<RangeMethod> readRangeMethod(const JsonPlace& place)
{
    QS_TRY(const std::string name, place.string());
    if (const auto method = rangeMethodFromName(name))
        return *method;
    return place.error("unknown range '" + name + "'", suggestName(name, rangeMethodNames()));
}

constexpr std::array kObserverFields {
    jsonField<&ObserverSpec::dtype, readDType>("dtype"),
    jsonField<&ObserverSpec::qscheme, readScheme>("qscheme"),
    jsonField<&ObserverSpec::quantMin>("quant_min"),
    jsonField<&ObserverSpec::quantMax>("quant_max"),
    jsonField<&ObserverSpec::reduceRange>("reduce_range"),
    jsonField<&ObserverSpec::isDynamic>("is_dynamic"),
    jsonField<&ObserverSpec::eps>("eps"),
    jsonField<&ObserverSpec::chAxis, readSmallInt>("ch_axis"),
    jsonField<&ObserverSpec::groupSize, readGroupSize>("group_size"),
    jsonField<&ObserverSpec::averagingConstant>("averaging_constant"),
    jsonField<&ObserverSpec::bins, readSmallInt>("bins"),
    jsonField<&ObserverSpec::scale>("scale"),
    jsonField<&ObserverSpec::zeroPoint>("zero_point"),
    jsonField<&ObserverSpec::range, readRangeMethod>("range"),
    jsonField<&ObserverSpec::percentile>("percentile"),
    jsonField<&ObserverSpec::customOpName>("custom_op_name"),
    jsonField<&ObserverSpec::computeDType, readDType>("compute_dtype")};

/// `{"observer": "fake_quantize", "inner": {"observer": "moving_average_minmax", ...}}`; arguments
/// of the inner observer may also be given next to "inner", as in torch.ao's constructors.
Result<ObserverSpec> readFakeQuantize(const JsonPlace& place, FakeQuantize kind)
{
    Json inner {{"observer", "moving_average_minmax"}};
    if (given(place, "inner")) {
        const JsonPlace at = place.key("inner");
        if (at.value().is_string())
            inner["observer"] = at.value();
        else if (at.value().is_object())
            inner = at.value();
        else
            return at.error("the observer inside is a name or an object");
    } else if (kind == FakeQuantize::FixedQParams) {
        inner["observer"] = "fixed_qparams";
    }
    for (const auto& [key, value] : place.value().items()) {
        if (key == "observer" || key == "inner")
            continue;
        if (inner.contains(key) && inner[key] != value)
            return place.key(key).error("'" + key + "' conflicts with the observer inside",
                                        "give it once");
        inner[key] = value;
    }
    if (kind == FakeQuantize::FusedMovingAverage && !inner.contains("quant_min")
        && !inner.contains("quant_max")) {
        inner["quant_min"] = 0;
        inner["quant_max"] = 255;
    }
    QS_TRY(ObserverSpec spec,
           readObserver(JsonPlace(inner, place.file(), place.path() + ".inner")));
    const std::string what = "'" + std::string(fakeQuantizeName(kind)) + "'";
    if (spec.fakeQuantize != FakeQuantize::None)
        return place.error(what + " cannot hold another fake-quantize",
                           "name an observer in 'inner'");
    if (!choosesQParams(spec.kind))
        return place.error(what + " needs an observer that chooses a scale, not '"
                           + std::string(observerKindName(spec.kind)) + "'");
    if (kind == FakeQuantize::FixedQParams && spec.kind != ObserverKind::FixedQParams)
        return place.error(what + " holds the observer 'fixed_qparams' only");
    if (kind == FakeQuantize::FusedMovingAverage && !isMovingAverage(spec.kind))
        return place.error(what + " holds a moving average observer only",
                           "use 'fake_quantize', or the inner observer 'moving_average_minmax'");
    spec.fakeQuantize = kind;
    return spec;
}

} // namespace

std::vector<std::string> observerKeys(ObserverKind kind)
{
    std::vector<std::string> keys {"observer"};
    const auto add = [&keys](std::initializer_list<const char*> more) {
        keys.insert(keys.end(), more.begin(), more.end());
    };
    if (kind == ObserverKind::ReuseInput || kind == ObserverKind::Identity)
        return keys;
    add({"dtype"});
    if (kind == ObserverKind::Recording)
        return keys;
    if (kind == ObserverKind::Noop || kind == ObserverKind::Placeholder)
        add({"custom_op_name"});
    if (kind == ObserverKind::Noop)
        return keys;
    add({"qscheme", "quant_min", "quant_max", "is_dynamic"});
    if (kind == ObserverKind::FixedQParams) {
        add({"scale", "zero_point"});
        return keys;
    }
    add({"eps"});
    if (kind == ObserverKind::Placeholder) {
        add({"compute_dtype"});
        return keys;
    }
    add({"reduce_range", "factory_kwargs"});
    if (isChannelKind(kind))
        add({"ch_axis", "group_size"});
    if (isMovingAverage(kind))
        add({"averaging_constant"});
    if (kind == ObserverKind::Histogram)
        add({"bins", "range", "percentile"});
    return keys;
}

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
        return place.error("the key 'observer' is missing", suggestName("", observerWords()));
    QS_TRY(const std::string name, place.key("observer").string());
    if (const auto fake = fakeQuantizeFromName(name))
        return readFakeQuantize(place, *fake);
    const auto kind = observerKindFromName(name);
    if (!kind)
        return place.key("observer")
            .error("unknown observer '" + name + "'", suggestName(name, observerWords()));
    QS_CHECK(place.object(observerKeys(*kind)));
    ObserverSpec spec = defaultsOf(*kind);
    QS_CHECK(readFields(place, kObserverFields, spec, true)); // null is torch.ao's None
    if (given(place, "factory_kwargs") && !place.key("factory_kwargs").value().empty())
        return place.key("factory_kwargs")
            .error("these arguments place Python buffers and have no meaning here",
                   "leave 'factory_kwargs' out");
    QS_CHECK(checkObserver(place, spec));
    return spec;
}

Result<bool> readFloatWord(const JsonPlace& place)
{
    if (place.value().is_null())
        return false;
    QS_TRY(const std::string word, place.string());
    if (word != kFloatWord)
        return place.error("unknown value '" + word + "'",
                           "it is \"" + std::string(kFloatWord) + "\", or the key is left out");
    return true;
}

Result<QConfig> readQConfig(const JsonPlace& place)
{
    QS_CHECK(place.object(keyTable("recipe", "qconfigs.NAME").keys()));
    for (const char* part : {"activation", "weight"})
        if (!place.has(part))
            return place.error("the key '" + std::string(part) + "' is missing");
    QConfig qconfig;
    QS_TRY(qconfig.activation, readObserver(place.key("activation")));
    QS_TRY(qconfig.weight, readObserver(place.key("weight")));
    if (qconfig.activation.groupSize > 0)
        return place.key("activation")
            .error("activations are not quantized in groups", "leave 'group_size' out");
    if (place.has("result")) {
        QS_TRY(qconfig.floatResult, readFloatWord(place.key("result")));
    }
    return qconfig;
}

Json observerToJson(const ObserverSpec& spec)
{
    if (spec.fakeQuantize != FakeQuantize::None) {
        ObserverSpec inner = spec;
        inner.fakeQuantize = FakeQuantize::None;
        return Json {{"observer", fakeQuantizeName(spec.fakeQuantize)},
                     {"inner", observerToJson(inner)}};
    }
    const ObserverSpec usual = defaultsOf(spec.kind);
    Json out {{"observer", observerKindName(spec.kind)}};
    if (spec.kind == ObserverKind::ReuseInput || spec.kind == ObserverKind::Identity)
        return out;
    out["dtype"] = dtypeName(spec.dtype);
    if (!spec.customOpName.empty())
        out["custom_op_name"] = spec.customOpName;
    if (spec.kind == ObserverKind::Noop || spec.kind == ObserverKind::Recording)
        return out;
    out["qscheme"] = qschemeName(spec.qscheme);
    if (spec.computeDType)
        out["compute_dtype"] = dtypeName(*spec.computeDType);
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
    if (spec.groupSize > 0)
        out["group_size"] = spec.groupSize;
    if (spec.averagingConstant != usual.averagingConstant)
        out["averaging_constant"] = spec.averagingConstant;
    if (spec.bins != usual.bins)
        out["bins"] = spec.bins;
    if (spec.range != usual.range)
        out["range"] = rangeMethodName(spec.range);
    if (spec.range == RangeMethod::Percentile)
        out["percentile"] = spec.percentile;
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
    Json out {{"activation", observerToJson(qconfig.activation)},
              {"weight", observerToJson(qconfig.weight)}};
    if (qconfig.floatResult)
        out["result"] = kFloatWord;
    return out;
}

} // namespace qs
