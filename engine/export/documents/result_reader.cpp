// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/ranges/choose_qparams.h"
#include "engine/export/documents/node_json.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace qs {

namespace {

using Kind = ObserverPlace::Kind;

Error unfitResult(std::string why)
{
    return makeError(ErrorCode::BadInput, "not a result of quantscope: " + std::move(why))
        .withHint("make one with 'quantscope quantize'");
}

/// The quantization entry of a place in a document's node; null if it is missing or null.
const Json* entryAt(const Json& node, const ObserverPlace& place)
{
    const auto member = [&](const char* key) -> const Json* {
        const auto it = node.find(key);
        return it == node.end() || it->is_null() ? nullptr : &*it;
    };
    const auto element = [&](const Json* list) -> const Json* {
        if (!list || !list->is_array() || place.index >= list->size())
            return nullptr;
        return (*list)[place.index].is_null() ? nullptr : &(*list)[place.index];
    };
    if (place.kind == Kind::Weight)
        return node.contains("weights") ? element(member("weights")) : member("weight");
    if (place.kind == Kind::Interior)
        return element(member("interior"));
    if (place.kind == Kind::Input)
        return element(member("inputs"));
    return node.contains("outputs") ? element(member("outputs")) : member("output");
}

template<class T>
T required(const Json& entry, const char* key)
{
    return entry.at(key).get<T>();
}

QParams readQParams(const Json& entry)
{
    QParams params;
    params.dtype = dtypeFromName(required<std::string>(entry, "dtype")).value_or(DType::Unknown);
    params.qscheme = qschemeFromName(required<std::string>(entry, "qscheme"))
                         .value_or(QScheme::PerTensorAffine);
    params.scale = required<std::vector<float>>(entry, "scale");
    if (params.qscheme == QScheme::PerChannelAffineFloatQParams) {
        params.floatZeroPoint = required<std::vector<float>>(entry, "zero_point");
        for (const float zero : params.floatZeroPoint)
            params.zeroPoint.push_back(std::int64_t(zero));
    } else {
        params.zeroPoint = required<std::vector<std::int64_t>>(entry, "zero_point");
    }
    params.quantMin = required<std::int64_t>(entry, "quant_min");
    params.quantMax = required<std::int64_t>(entry, "quant_max");
    if (entry.contains("axis") && entry["axis"].is_number())
        params.axis = entry["axis"].get<int>();
    params.groupSize = entry.value("group_size", 0);
    params.calibrated = entry.value("calibrated", true);
    return params;
}

ObserverStats readStats(const Json& entry, const PlannedObserver& observer)
{
    ObserverStats stats;
    stats.id = observer.id;
    stats.spec = observer.spec;
    const auto min = required<std::vector<float>>(entry, "min");
    const auto max = required<std::vector<float>>(entry, "max");
    if (min.empty() || min.size() != max.size())
        return stats;
    stats.count = 1;
    stats.min = *std::min_element(min.begin(), min.end());
    stats.max = *std::max_element(max.begin(), max.end());
    if (isPerChannel(observer.spec.qscheme)) {
        stats.channelMin = min;
        stats.channelMax = max;
    }
    return stats;
}

Result<void> checkDocument(const Json& document, const Graph& model)
{
    const std::string sha256 = document.at("model").at("sha256").get<std::string>();
    if (sha256 != model.info().sha256)
        return fail(makeError(ErrorCode::BadInput,
                              "made from another model: its sha256 is " + sha256 + ", that of "
                                  + model.info().path + " is " + model.info().sha256));
    return {};
}

bool fits(const QParams& params, const PlannedObserver& observer)
{
    return params.dtype == observer.spec.dtype && params.groupSize == observer.spec.groupSize
        && params.qscheme == observer.spec.qscheme && !params.scale.empty()
        && params.scale.size() == params.zeroPoint.size();
}

/// Whether all scales are finite and positive, and all integer zero points are inside the range.
bool isUsable(const QParams& params)
{
    const auto divides = [](float scale) { return std::isfinite(scale) && scale > 0; };
    const auto isInside
        = [&](std::int64_t zero) { return zero >= params.quantMin && zero <= params.quantMax; };
    return std::all_of(params.scale.begin(), params.scale.end(), divides)
        && (!params.floatZeroPoint.empty()
            || std::all_of(params.zeroPoint.begin(), params.zeroPoint.end(), isInside));
}

std::vector<RefusedKernel> readRefused(const Json& list)
{
    std::vector<RefusedKernel> refused;
    for (const Json& kernel : list)
        refused.push_back({required<std::string>(kernel, "site"),
                           required<std::string>(kernel, "kernel"),
                           required<std::string>(kernel, "reason")});
    return refused;
}

Result<StoredQuantization> readDocument(const Json& document, const Graph& model, const Plan& plan)
{
    QS_CHECK(checkDocument(document, model));
    std::unordered_map<std::string, const Json*> nodes;
    for (const Json& node : document.at("nodes"))
        nodes.emplace(node.at("name").get<std::string>(), &node);
    StoredQuantization stored;
    const ObserverPlaces places(model, plan);
    for (const ObserverPlace& place : places.all()) {
        const PlannedObserver& observer = plan.observers.at(place.observer.value() - 1);
        if (stored.qparams.contains(place.observer) || !choosesQParams(observer.spec))
            continue;
        const std::string& name = model.get(place.node).name;
        const auto found = nodes.find(name);
        const Json* entry = found == nodes.end() ? nullptr : entryAt(*found->second, place);
        if (!entry)
            return fail(unfitResult("it has no quantization for a value that the recipe quantizes")
                            .atNode(name));
        QParams params = readQParams(*entry);
        if (!fits(params, observer))
            return fail(unfitResult("its quantization does not fit the recipe").atNode(name));
        if (!isUsable(params))
            return fail(
                unfitResult("a scale is not above zero, or a zero point is outside its range")
                    .atNode(name));
        stored.qparams.emplace(place.observer, std::move(params));
        stored.observations.observers.push_back(readStats(*entry, observer));
    }
    stored.recipeSha256 = document.value("recipe_sha256", "");
    stored.backendSha256 = document.value("backend_sha256", "");
    if (const auto data = document.find("data"); data != document.end() && data->is_object()) {
        stored.calibrationData = data->value("calibration", "");
        stored.dataSha256 = data->value("calibration_sha256", "");
    }
    if (const auto refused = document.find("refused_kernels"); refused != document.end())
        stored.refused = readRefused(*refused);
    stored.observations.batches
        = document.value(Json::json_pointer("/data/calibration_batches"), 0);
    stored.observations.samples
        = document.value(Json::json_pointer("/data/calibration_samples"), 0);
    return stored;
}

} // namespace

Result<void> checkResultIsOf(const Graph& model, const ResultDocument& document)
{
    return document.made<void>([&](const Json& json) { return checkDocument(json, model); });
}

Result<std::vector<CorrectedShape>> correctedShapesOf(const Graph& model,
                                                      const ResultDocument& document)
{
    using Shapes = std::vector<CorrectedShape>;
    return document.made<Shapes>([&](const Json& json) -> Result<Shapes> {
        const Json* list = memberOf(json, "corrected_shapes");
        return list ? readCorrectedShapes(model, list->dump()) : Result<Shapes>(Shapes());
    });
}

Result<StoredQuantization> quantizationFromResult(const ResultDocument& document,
                                                  const Graph& model, const Plan& plan)
{
    return document.made<StoredQuantization>(
        [&](const Json& json) { return readDocument(json, model, plan); });
}

} // namespace qs
