// SPDX-License-Identifier: Apache-2.0
#include "engine/export/report/report_why.h"

#include "engine/base/decibels.h"
#include "engine/configure/edit_text.h"
#include "engine/configure/json/cure_json.h"
#include "engine/export/report/report_svg.h"
#include "engine/result/part_text.h"

namespace qs {

namespace {

using Json = ResultDocument::Json;

const Json* whyOf(const Json& result)
{
    const auto why = result.find("why");
    return why != result.end() && why->is_object() ? &*why : nullptr;
}

/// "38.21 dB measured, 38.40 dB predicted. The shares add up to 96 % of the noise."
std::string noiseText(const Json& why)
{
    std::string text
        = "Output noise: " + sqnrText(numberAt(why, "measured_db").value_or(0), 2, " dB")
        + " measured, " + sqnrText(numberAt(why, "predicted_db").value_or(0), 2, " dB")
        + " predicted (" + counted(why.at("samples").get<std::int64_t>(), "sample") + ").";
    if (const auto additivity = numberAt(why, "additivity"))
        text += " The shares add up to " + fixedText(100 * *additivity, 0) + " % of the noise.";
    return text;
}

std::string listHtml(const Json& lines)
{
    std::string items;
    for (const Json& line : lines)
        items += "<li>" + escapeHtml(line.get<std::string>()) + "</li>";
    return items.empty() ? items : "<ul>" + items + "</ul>";
}

/// What would cure it, in order of cost.
std::string proposalsHtml(const Json& cures)
{
    const auto read = readCures({cures, "result.json", "why.cures"});
    Json lines = Json::array();
    if (read)
        for (const Cure& cure : *read)
            lines.push_back(cureText(cure));
    return lines.empty() ? "none known" : listHtml(lines);
}

std::string causesHtml(const Json& why)
{
    std::string rows;
    for (const Json& cause : why.at("causes"))
        rows += "<tr><td class=\"n\">" + partText(numberAt(cause, "share").value_or(0))
            + "</td><td>" + escapeHtml(fieldText(cause, "title")) + "</td><td>"
            + escapeHtml(fieldText(cause, "words")) + "</td><td>" + listHtml(cause.at("evidence"))
            + "</td><td>" + proposalsHtml(cause.at("cures")) + "</td></tr>\n";
    if (rows.empty())
        return "<p>No quantizer makes " + partText(kLeastPart)
            + " of the noise or more: nothing to cure.</p>";
    return "<table class=\"causes\"><thead><tr><th>Share of the noise</th><th>Where</th>"
           "<th>What is wrong</th><th>Figures</th><th>What would mend it</th></tr></thead><tbody>"
        + rows + "</tbody></table>";
}

std::string curesHtml(const Json& cures, const ReportNames& titles)
{
    std::string rows;
    for (const Json& cure : cures) {
        std::string nodes;
        for (const Json& node : cure.at("nodes"))
            nodes += (nodes.empty() ? "" : ", ") + titles.of(node.get<std::string>());
        const auto gain = numberAt(cure, "gain_db");
        const std::string problem = fieldText(cure, "problem"), by = fieldText(cure, "by");
        rows += "<tr><td>" + escapeHtml(fieldText(cure, "text")) + "</td><td>"
            + escapeHtml(nodes.empty() ? "-" : nodes) + "</td><td class=\"n\">"
            + (gain ? (*gain < 0 ? "" : "+") + fixedText(*gain, 1) + " dB" : std::string("-"))
            + "</td><td>" + escapeHtml(by.empty() ? "-" : by) + "</td><td>"
            + (!problem.empty()               ? "left out: " + escapeHtml(problem)
                   : cure.value("off", false) ? "switched off"
                                              : "in effect")
            + "</td></tr>\n";
    }
    return "<p>Cures in the recipe:</p><table class=\"cures\"><thead><tr><th>Cure</th>"
           "<th>Nodes</th><th>Gain when taken</th><th>Taken by</th><th>State</th></tr></thead>"
           "<tbody>"
        + rows + "</tbody></table>";
}

} // namespace

std::string whyHtml(const Json& result, const ReportNames& titles)
{
    const Json* why = whyOf(result);
    const auto cures = result.find("cures");
    const bool hasCures = cures != result.end() && cures->is_array() && !cures->empty();
    if (!why && !hasCures)
        return {};
    std::string html = "<h2>What was wrong and what mended it</h2>";
    if (why)
        html += "<p>" + noiseText(*why) + "</p>" + causesHtml(*why);
    if (why && !why->at("left_out").empty())
        html += "<p>Left out:</p>" + listHtml(why->at("left_out"));
    if (hasCures)
        html += curesHtml(*cures, titles);
    else
        html += "<p>No cure is in the recipe.</p>";
    return html;
}

NoiseShares::NoiseShares(const Json& result)
{
    if (const Json* why = whyOf(result))
        for (const Json& unit : why->at("units"))
            m_texts[fieldText(unit, "node")] = partText(numberAt(unit, "part").value_or(0),
                                                        numberAt(unit, "part_error").value_or(0));
}

std::string NoiseShares::of(const std::string& node) const
{
    const auto found = m_texts.find(node);
    return found == m_texts.end() ? "-" : found->second;
}

} // namespace qs
