// SPDX-License-Identifier: Apache-2.0
#include "engine/import/trained/kept_ranges.h"

#include "engine/base/files/read_file.h"
#include "engine/base/log.h"
#include "engine/base/text.h"
#include "engine/base/torch_guard.h"
#include "engine/graph/given_observations.h"
#include "engine/import/archive/pt2_archive.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace qs {

namespace {

using RangesJson = nlohmann::ordered_json;

constexpr std::uint64_t kMostBytes = std::uint64_t(1) << 28;
constexpr const char* kRangesFormat = "quantscope.ranges";

/// Returns a consumer's name in a .pt2; null for the Output node.
RangesJson readerJson(const Node& reader)
{
    return reader.outputs.empty() ? RangesJson(nullptr) : RangesJson(reader.outputs[0].name);
}

/// Visits the members of a range's record except value and readers, as key and member.
template<class Given, class Visit>
void eachField(Given& given, const Visit& visit)
{
    visit("weight", given.isWeight);
    visit("second", given.isSecond);
    visit("sees_weight", given.seesWeight);
    visit("averaging", given.averaging);
    visit("min", given.min);
    visit("max", given.max);
    visit("quant_min", given.quantMin);
    visit("quant_max", given.quantMax);
    visit("symmetric", given.isSymmetric);
    visit("per_channel", given.isPerChannel);
    visit("axis", given.axis);
    visit("eps", given.eps);
}

RangesJson rangeJson(const Graph& graph, const GivenObservation& given)
{
    RangesJson readers = RangesJson::array();
    for (const NodeId id : given.readers)
        if (const Node* reader = graph.tryGet(id))
            readers.push_back(readerJson(*reader));
    RangesJson json {{"value", graph.value(given.value).name}, {"readers", std::move(readers)}};
    if (!given.interior.empty())
        json["interior"] = given.interior;
    eachField(given, [&json](const char* key, const auto& member) { json[key] = member; });
    return json;
}

/// Returns nullopt if the graph has no such value. Throws if the record is invalid.
std::optional<GivenObservation> rangeFrom(const RangesJson& json, const ValuesByName& values)
{
    const auto value = values.find(json.at("value").get<std::string>());
    GivenObservation given;
    for (const RangesJson& name : json.at("readers"))
        if (const auto reader
            = values.find(name.is_null() ? std::string() : name.get<std::string>());
            reader != values.end())
            given.readers.push_back(reader->second.node);
    given.interior = json.value("interior", "");
    eachField(given, [&json](const char* key, auto& member) { json.at(key).get_to(member); });
    if (value == values.end() || value->first.empty())
        return std::nullopt;
    given.value = value->second;
    return given;
}

/// True if the record is a valid range of its value.
bool isSound(const Graph& graph, const GivenObservation& given)
{
    const auto isFinite = [](float number) { return std::isfinite(number); };
    const ValueType& type = graph.value(given.value).type;
    const bool isOne = given.min.size() == 1 && !given.isPerChannel;
    const bool fits = given.isPerChannel && given.axis >= 0 && !given.min.empty()
        && (!type.shapeKnown
            || (std::size_t(given.axis) < type.shape.size()
                && (type.shape[std::size_t(given.axis)].size < 0
                    || type.shape[std::size_t(given.axis)].size
                        == std::int64_t(given.min.size()))));
    return given.min.size() == given.max.size() && (isOne || fits)
        && std::all_of(given.min.begin(), given.min.end(), isFinite)
        && std::all_of(given.max.begin(), given.max.end(), isFinite)
        && given.quantMin < given.quantMax && given.averaging >= 0 && given.eps > 0;
}

Error damaged(const std::string& why)
{
    return makeError(ErrorCode::BadInput,
                     std::string("the record '") + kKeptRangesPath + "' is damaged: " + why)
        .withHint("save the model again");
}

Result<GivenObservations> readRanges(const Graph& graph, const std::string& text)
{
    if (isDeepJson(text))
        return fail(damaged("it is nested too deeply"));
    const RangesJson json = RangesJson::parse(text);
    if (json.at("format") != kRangesFormat)
        return fail(damaged("its format is not " + std::string(kRangesFormat)));
    const ValuesByName values = valuesByName(graph);
    GivenObservations all;
    for (const RangesJson& one : json.at("ranges")) {
        std::optional<GivenObservation> given = rangeFrom(one, values);
        if (given && !isSound(graph, *given))
            return fail(damaged("no range of " + inQuotes(one.at("value").get<std::string>())));
        if (given)
            all.push_back(std::move(*given));
    }
    return all;
}

} // namespace

ValuesByName valuesByName(const Graph& graph)
{
    ValuesByName values;
    for (const NodePtr& node : graph.nodes())
        for (std::uint32_t i = 0; i < node->outputs.size(); ++i)
            values.emplace(node->outputs[i].name, ValueRef {node->id, i});
    values[""] = {graph.output().id, 0};
    return values;
}

std::string keptRangesText(const Graph& graph)
{
    RangesJson ranges = RangesJson::array();
    for (const GivenObservation& given : givenObservations(graph))
        if (const Node* node = graph.tryGet(given.value.node);
            node && given.value.index < node->outputs.size())
            ranges.push_back(rangeJson(graph, given));
    if (ranges.empty())
        return {};
    const RangesJson record {
        {"format", kRangesFormat}, {"version", 1}, {"ranges", std::move(ranges)}};
    return record.dump(-1, ' ', false, RangesJson::error_handler_t::replace);
}

Result<void> takeKeptRanges(const Graph& graph, const Pt2Archive& archive)
{
    auto* held = dynamic_cast<HoldsGivenObservations*>(graph.tensors().get());
    if (!held || !archive.has(kKeptRangesPath))
        return {};
    if (archive.size(kKeptRangesPath) > kMostBytes)
        return fail(damaged("it is too large").inFile(archive.path()));
    QS_TRY(const std::string text, archive.read(kKeptRangesPath));
    auto ranges = guardTorchValue<GivenObservations>([&] { return readRanges(graph, text); });
    if (!ranges) {
        Error error = std::move(ranges).error();
        if (error.code != ErrorCode::BadInput) // of the JSON reader
            error = damaged("it does not hold what a record holds");
        return fail(std::move(error).inFile(archive.path()));
    }
    const auto weights = std::count_if(ranges->begin(), ranges->end(),
                                       [](const auto& one) { return one.isWeight; });
    note("the model keeps ranges of training with simulated quantization: those of "
         + counted(std::int64_t(ranges->size()) - weights, "value")
         + (weights > 0 ? " and " + counted(weights, "weight") : ""));
    held->given = std::make_shared<const GivenObservations>(std::move(*ranges));
    return {};
}

} // namespace qs
