// SPDX-License-Identifier: Apache-2.0
#include "app/commands/text/timing_text.h"

#include "app/commands/text/console.h"
#include "engine/base/text.h"
#include "engine/compare/unit_latency.h"
#include "engine/graph/code/code_statements.h"
#include "engine/plan/names/unit_title.h"
#include "engine/plan/summaries/group_root.h"

#include <algorithm>
#include <filesystem>

namespace qs {

namespace {

constexpr std::size_t kSlowest = 10;
constexpr double kMilliseconds = 1000;

Json timeJson(const StageTime& time)
{
    return {{"seconds", time.seconds}, {"processor_seconds", time.processorSeconds}};
}

/// Returns the times of the stages; the last entry is the time between them.
Json stagesJson(const TimingParts& parts)
{
    Json list = Json::array();
    StageTime rest = parts.whole;
    const auto add = [&](const std::string& stage, const StageTime& time) {
        Json entry {{"stage", stage}};
        entry.update(timeJson(time));
        list.push_back(std::move(entry));
    };
    for (const StageTimes::Entry& entry : parts.stages.entries()) {
        add(entry.stage, entry.time);
        rest.seconds -= entry.time.seconds;
        rest.processorSeconds -= entry.time.processorSeconds;
    }
    add("other", rest);
    return list;
}

Json orNull(const std::optional<double>& seconds)
{
    return seconds ? Json(*seconds) : Json(nullptr);
}

Json latencyJson(const UnitLatency& unit)
{
    return {{"float_seconds", orNull(unit.floatSeconds)},
            {"int8_seconds", orNull(unit.int8Seconds)},
            {"conversion_seconds", orNull(unit.conversionSeconds)}};
}

Json bytesJson(const TimingParts& parts)
{
    Json files = Json::object();
    for (const std::string& path : parts.files) {
        std::error_code code;
        files[std::filesystem::path(path).filename().string()]
            = std::filesystem::file_size(path, code);
    }
    const Json& weights = parts.document.at("weights");
    return {{"peak_memory", parts.document.at("peak_rss_bytes")},
            {"float_weights", weights.is_null() ? Json(nullptr) : weights.at("float_bytes")},
            {"files", std::move(files)}};
}

/// The titles of nodes and units for the table of times.
class TimedNodes
{
public:
    explicit TimedNodes(const TimingParts& parts)
        : m_model(*parts.converted.prepared->model)
        , m_plan(*parts.converted.prepared->plan)
        , m_lowered(*parts.converted.lowered)
        , m_titles(m_model)
    {
    }

    Json layer(const UnitLatency& unit) const
    {
        const Node* node = m_model.tryGet(unit.node);
        Json entry {{"node", node ? Json(node->name) : Json(nullptr)},
                    {"title", node ? title(*node) : "operators that edits added"}};
        entry.update(latencyJson(unit));
        return entry;
    }

    Json lowered(const NodeTime& time) const
    {
        const Node& node = m_lowered.get(time.node);
        const Node* from = m_model.tryGet(floatNodeOf(node));
        const Node* end = from ? m_model.tryGet(unitEnd(m_model, m_plan, from->id)) : nullptr;
        return {{"node", node.name},
                {"operator", node.target},
                {"layer", end ? Json(end->name) : Json(nullptr)},
                {"title", end ? title(*end) : ""},
                {"seconds", time.seconds}};
    }

private:
    std::string title(const Node& node) const
    {
        return unitTitle(m_titles, m_plan, m_plan.tryGet(m_model, node.id), node);
    }

    const Graph& m_model;
    const Plan& m_plan;
    const Graph& m_lowered;
    NodeTitles m_titles;
};

std::string cellOf(const Json& seconds)
{
    return seconds.is_null() ? "-" : fixedText(kMilliseconds * seconds.get<double>(), 3);
}

std::string stagesText(const Json& timing)
{
    TextTable table({"stage", ">seconds", ">processor"});
    const auto add = [&table](const std::string& name, const Json& time) {
        table.add({name, fixedText(time.at("seconds").get<double>(), 3),
                   fixedText(time.at("processor_seconds").get<double>(), 3)});
    };
    for (const Json& stage : timing.at("stages"))
        add(stage.at("stage").get<std::string>(), stage);
    add("in all", timing);
    return table.text();
}

std::string batchText(const Json& batch)
{
    return "one batch of " + numberText(batch.at("samples").get<double>(), 4)
        + " samples on the CPU, " + counted(batch.at("threads").get<std::int64_t>(), "thread")
        + ", in ms: float " + cellOf(batch.at("float_seconds")) + ", int8 "
        + cellOf(batch.at("int8_seconds")) + " and conversions "
        + cellOf(batch.at("conversion_seconds")) + "\n";
}

std::string bytesLines(const Json& bytes)
{
    const auto text = [](const Json& count) {
        return count.is_null() ? std::string("-") : bytesText(count.get<double>());
    };
    std::string lines = "peak memory " + text(bytes.at("peak_memory")) + ", float weights "
        + text(bytes.at("float_weights")) + "\n";
    for (const auto& [name, count] : bytes.at("files").items())
        lines += "  " + name + "  " + text(count) + "\n";
    return lines;
}

} // namespace

Json timingJson(const TimingParts& parts)
{
    const TimedNodes names(parts);
    auto units = unitLatencies(parts.converted, parts.comparison.floatTimes,
                               parts.comparison.loweredTimes);
    Json batch {{"samples", parts.samples}, {"threads", parts.comparison.threads}};
    batch.update(latencyJson(wholeLatency(units)));
    Json layers = Json::array(), slowest = Json::array(), lowered = Json::array();
    for (const UnitLatency& unit : units)
        layers.push_back(names.layer(unit));
    std::erase_if(units, [](const UnitLatency& unit) { return !unit.floatSeconds; });
    std::stable_sort(units.begin(), units.end(), [](const UnitLatency& a, const UnitLatency& b) {
        return *a.floatSeconds > *b.floatSeconds;
    });
    for (std::size_t i = 0; i < std::min(units.size(), kSlowest); ++i)
        slowest.push_back(names.layer(units[i]));
    std::vector<NodeTime> nodes = parts.comparison.loweredTimes;
    std::stable_sort(nodes.begin(), nodes.end(),
                     [](const NodeTime& a, const NodeTime& b) { return a.seconds > b.seconds; });
    for (std::size_t i = 0; i < std::min(nodes.size(), kSlowest); ++i)
        lowered.push_back(names.lowered(nodes[i]));
    Json timing = timeJson(parts.whole);
    timing.update({{"stages", stagesJson(parts)},
                   {"batch", std::move(batch)},
                   {"slowest", {{"float", std::move(slowest)}, {"lowered", std::move(lowered)}}},
                   {"layers", std::move(layers)},
                   {"bytes", bytesJson(parts)}});
    return timing;
}

std::string timingText(const Json& timing)
{
    const Json& slowest = timing.at("slowest");
    TextTable layers(
        {"slowest float operators, with what is fused", ">float", ">int8", ">conversions"});
    for (const Json& layer : slowest.at("float"))
        layers.add({layer.at("title").get<std::string>(), cellOf(layer.at("float_seconds")),
                    cellOf(layer.at("int8_seconds")), cellOf(layer.at("conversion_seconds"))});
    TextTable lowered({"slowest operators of the lowered form", "of", ">ms"});
    for (const Json& node : slowest.at("lowered"))
        lowered.add({node.at("operator").get<std::string>(), node.at("title").get<std::string>(),
                     cellOf(node.at("seconds"))});
    return stagesText(timing) + "\n" + batchText(timing.at("batch")) + "\n" + layers.text() + "\n"
        + lowered.text() + "\n" + bytesLines(timing.at("bytes"));
}

} // namespace qs
