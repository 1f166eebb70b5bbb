// SPDX-License-Identifier: Apache-2.0
#include "engine/base/decibels.h"
#include "engine/base/files/atomic_file.h"
#include "engine/base/text.h"
#include "engine/export/documents/result_writer.h"
#include "engine/export/report/report_certificate.h"
#include "engine/export/report/report_forms.h"
#include "engine/export/report/report_histograms.h"
#include "engine/export/report/report_names.h"
#include "engine/export/report/report_style.h"
#include "engine/export/report/report_svg.h"
#include "engine/export/report/report_tree.h"
#include "engine/export/report/report_why.h"
#include "engine/plan/summaries/coverage.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace qs {

namespace {

namespace fs = std::filesystem;
using Json = ResultDocument::Json;

constexpr std::size_t kWorst = 12;

std::string textOf(const Json& json, const char* key)
{
    const std::string text = fieldText(json, key);
    return text.empty() ? "-" : text;
}

std::string item(const std::string& name, const std::string& value)
{
    return "<dt>" + escapeHtml(name) + "</dt><dd>" + escapeHtml(value) + "</dd>";
}

std::string percent(const Json& labels, const char* key)
{
    return labels.contains(key) && labels[key].is_number()
        ? fixedText(100 * labels[key].get<double>(), 2) + " %"
        : "-";
}

std::string summaryHtml(const Json& result, const ReportNames& titles)
{
    const Json& coverage = result.at("coverage");
    std::string html = "<h2>Summary</h2><dl>";
    html += item("Model", textOf(result.at("model"), "path"));
    if (result.contains("target_assumed"))
        html += item("Target", textOf(result, "target_assumed"));
    html += item("Coverage",
                 coverageText(coverage.at("quantized").get<int>(),
                              coverage.at("eligible").get<int>(), coverage.at("total").get<int>()));
    if (fieldText(result, "against") == "original")
        html += item("Measured against", "the original model, before the edits of its graph");
    for (const Json& output : result.at("outputs"))
        html += item("Output " + titles.of(output),
                     sqnrCell(errorTerm(output, "cumulative")) + " dB in the reference form, "
                         + sqnrCell(errorTerm(output, "lowered")) + " dB lowered");
    if (const auto own = result.find("own_ranges"); own != result.end() && own->is_object())
        for (const Json& line : own->value("summary", Json::array()))
            html += item("Other files", line.get<std::string>());
    if (const auto unpaired = result.find("unpaired");
        unpaired != result.end() && unpaired->is_array())
        for (const Json& line : *unpaired)
            html += item("Not measured", line.get<std::string>());
    if (result.contains("labels") && result["labels"].is_object())
        html += item("Top-1",
                     percent(result["labels"], "float_top1") + " float, "
                         + percent(result["labels"], "int8_top1") + " int8");
    if (result.contains("agreement") && result["agreement"].is_object())
        html += item("Top-1 agreement",
                     percent(result["agreement"], "top1") + " of the samples have the same highest "
                         + "entry of output " + titles.of(textOf(result["agreement"], "output"))
                         + " in the float and the int8 model");
    html
        += item("Device", textOf(result, "device") + ", " + textOf(result, "threads") + " threads");
    for (const auto& [stage, seconds] : result.at("timing_s").items())
        html += item("Time: " + stage, fixedText(seconds.get<double>(), 2) + " s");
    html += item("Peak memory",
                 fixedText(result.at("peak_rss_bytes").get<double>() / 1e6, 0) + " MB");
    return html + "</dl>";
}

std::string worstHtml(const Json& result, const ReportNames& titles)
{
    std::vector<std::pair<double, std::string>> losses;
    for (const Json& node : result.at("nodes"))
        if (const auto db = errorTerm(node, ErrorTerm::BornHere); db && *db < kExactDb)
            losses.emplace_back(*db, titles.of(node));
    std::stable_sort(losses.begin(), losses.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    if (losses.size() > kWorst)
        losses.resize(kWorst);
    const ErrorScale scale = bornScale(result);
    std::vector<Bar> bars;
    for (const auto& [db, title] : losses)
        bars.push_back({title, fixedText(db, 2) + " dB", scale.badness(db)});
    return bars.empty() ? std::string()
                        : "<h2>Worst layers by the error born there</h2><p>Signal to noise of "
                          "what each layer adds to the error of its inputs: the longer and the "
                          "more yellow the bar, the more is lost.</p>"
            + scaleLegendHtml(scale) + barChartSvg(bars);
}

std::string outputText(const Json& node)
{
    const Json& output = node.at("output");
    if (!output.is_object())
        return "-";
    std::string text = textOf(output, "dtype");
    if (output.at("scale").size() == 1)
        text += ", scale " + fixedText(output["scale"][0].get<double>(), 6) + ", zero point "
            + output.at("zero_point").at(0).dump();
    return text;
}

/// The scale's colour, of what is born at a node.
std::string swatch(const Json& node, ErrorTerm term, const ErrorScale& scale)
{
    const auto db = errorTerm(node, term);
    if (!db || term != ErrorTerm::BornHere)
        return {};
    return "<span class=\"dot " + scaleClass(scale.badness(*db)) + "\"></span>";
}

std::string layersHtml(const Json& result, const ReportNames& titles)
{
    std::string html = "<h2>Layer by layer</h2><p>SQNR in dB. Isolated: this layer alone on float "
                       "inputs. Inherited: what its inputs bring. Born here: what it adds. "
                       "Cumulative: all together. KL: how far its values are spread otherwise "
                       "than the float model's, in nats. Name: what rules of the recipe call the "
                       "node.</p><table><thead><tr>";
    const ErrorScale scale = bornScale(result);
    const NoiseShares shares(result);
    for (const char* title : {"Node", "Operator", "Name", "Verdict", "Isolated", "Inherited",
                              "Born here", "Cumulative", "KL"})
        html += std::string("<th>") + title + "</th>";
    html += !shares.empty() ? "<th>Share of the output's noise</th>" : "";
    html += "<th>Output</th><th>Reason</th></tr></thead><tbody>";
    for (const Json& node : result.at("nodes")) {
        html += node.at("quantized").get<bool>() ? "<tr>" : "<tr class=\"float\">";
        html += "<td>" + escapeHtml(titles.of(node)) + "</td>";
        for (const char* key : {"op", "name", "verdict"})
            html += "<td>" + escapeHtml(textOf(node, key)) + "</td>";
        for (const ErrorTerm term : kTableTerms)
            html += "<td class=\"n\">" + swatch(node, term, scale) + sqnrCell(errorTerm(node, term))
                + "</td>";
        const auto kl = errorTerm(node, ErrorTerm::Cumulative, "kl");
        html += "<td class=\"n\">" + (kl ? fixedText(*kl, 5) : std::string("-")) + "</td>"
            + (shares.empty() ? std::string()
                              : "<td class=\"n\">" + shares.of(textOf(node, "name")) + "</td>")
            + "<td>" + escapeHtml(outputText(node)) + "</td><td>"
            + escapeHtml(textOf(node, "reason")) + "</td></tr>\n";
    }
    return html + "</tbody></table>";
}

/// The values inside quantized custom modules.
std::string interiorsHtml(const Json& result, const ReportNames& titles)
{
    std::string rows;
    for (const Json& node : result.at("nodes")) {
        const auto interiors = node.find("interior");
        if (interiors == node.end() || !interiors->is_array())
            continue;
        for (const Json& value : *interiors) {
            const auto scales = value.find("scale");
            const bool chosen = scales != value.end() && scales->size() == 1;
            rows += "<tr><td>" + escapeHtml(titles.of(node)) + "</td><td>"
                + escapeHtml(textOf(value, "name")) + "</td><td class=\"n\">"
                + sqnrCell(errorTerm(Json {{"value", value.value("error", Json())}}, "value"))
                + "</td><td>" + escapeHtml(textOf(value, "dtype"))
                + (chosen ? ", scale " + fixedText((*scales)[0].get<double>(), 6) + ", zero point "
                           + value.at("zero_point").at(0).dump()
                          : std::string())
                + "</td></tr>\n";
        }
    }
    return rows.empty() ? std::string()
                        : "<h2>Inside recurrent layers</h2><p>Values of each cell, by layer and "
                          "direction; SQNR in dB, all together.</p><table><thead><tr><th>Node</th>"
                          "<th>Value</th><th>Cumulative</th><th>Quantization</th></tr></thead>"
                          "<tbody>"
            + rows + "</tbody></table>";
}

Result<std::string> pageHtml(const Json& result, const std::string& folder)
{
    const std::string title
        = "Quantscope: " + fs::path(textOf(result.at("model"), "path")).filename().string();
    const ReportNames titles(result);
    QS_TRY(const std::string histograms, histogramsHtml(result, titles, folder));
    QS_TRY(const std::string certificate, certificateHtml(result, titles, folder));
    return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/><title>"
        + escapeHtml(title) + "</title><style>" + reportStyle() + "</style></head><body><h1>"
        + escapeHtml(title) + "</h1>" + summaryHtml(result, titles) + whyHtml(result, titles)
        + moduleTreeHtml(result) + worstHtml(result, titles) + layersHtml(result, titles)
        + interiorsHtml(result, titles) + formsHtml(result, titles) + histograms + certificate
        + "</body></html>\n";
}

} // namespace

Result<void> writeHtmlReport(const std::string& folder, const std::string& htmlPath)
{
    QS_TRY(const ResultDocument result, ResultDocument::read(folder));
    QS_TRY(const std::string page, result.made<std::string>([&](const Json& json) {
        return pageHtml(json, fs::path(result.path()).parent_path().string());
    }));
    return writeFileAtomically(htmlPath, page);
}

} // namespace qs
