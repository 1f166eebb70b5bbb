// SPDX-License-Identifier: Apache-2.0
#include "engine/base/atomic_file.h"
#include "engine/export/report_histograms.h"
#include "engine/export/report_svg.h"
#include "engine/export/result_writer.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace qs {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kWorst = 12;

constexpr const char* kStyle
    = "body{font:14px/1.45 system-ui,sans-serif;color:#222;margin:2rem auto;max-width:78rem;"
      "padding:0 1rem}h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}"
      "table{border-collapse:collapse;width:100%;font-size:12.5px}"
      "th,td{text-align:left;padding:.25rem .5rem;border-bottom:1px solid #e3e3e3;"
      "vertical-align:top}th{position:sticky;top:0;background:#f6f6f6}"
      "td.n{text-align:right;font-variant-numeric:tabular-nums}tr.float{color:#777}"
      "svg text{font-size:11px;fill:#444}svg text.label{text-anchor:end}svg .bar{fill:#c0654a}"
      "svg .bin{fill:#4a78a8}svg .range{fill:#e8efe2}dl{display:grid;"
      "grid-template-columns:max-content 1fr;gap:.15rem 1rem}dt{color:#777}dd{margin:0}"
      ".figures{display:flex;flex-wrap:wrap;gap:.5rem 1.25rem}figure{margin:0}"
      "figcaption{font-size:12px;color:#444}";

std::string textOf(const Json& json, const char* key)
{
    const auto it = json.find(key);
    if (it == json.end() || it->is_null())
        return "-";
    return it->is_string() ? it->get<std::string>() : it->dump();
}

std::string decimals(double value, int count)
{
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", count, value);
    return text;
}

/// The SQNR of one term of a node's error, where it has a number.
std::optional<double> sqnrOf(const Json& owner, const char* term)
{
    const auto error = owner.find("error");
    const Json& terms = error == owner.end() ? owner : *error;
    if (!terms.is_object() || !terms.contains(term) || !terms[term].is_object())
        return std::nullopt;
    const auto db = terms[term].find("sqnr_db");
    if (db == terms[term].end() || !db->is_number())
        return std::nullopt;
    return db->get<double>();
}

std::string dbText(std::optional<double> db)
{
    if (!db)
        return "-";
    return *db >= 200 ? "exact" : decimals(*db, 2);
}

std::string item(const std::string& name, const std::string& value)
{
    return "<dt>" + escapeHtml(name) + "</dt><dd>" + escapeHtml(value) + "</dd>";
}

std::string percent(const Json& labels, const char* key)
{
    return labels.contains(key) && labels[key].is_number()
        ? decimals(100 * labels[key].get<double>(), 2) + " %"
        : "-";
}

std::string summaryHtml(const Json& result)
{
    const Json& coverage = result.at("coverage");
    std::string html = "<h2>Summary</h2><dl>";
    html += item("Model", textOf(result.at("model"), "path"));
    html += item("SHA-256", textOf(result.at("model"), "sha256"));
    html
        += item("Coverage",
                textOf(coverage, "quantized") + " of " + textOf(coverage, "eligible")
                    + " eligible operators quantized, of " + textOf(coverage, "total") + " in all");
    for (const Json& output : result.at("outputs"))
        html += item("Output " + textOf(output, "name"),
                     dbText(sqnrOf(output, "cumulative")) + " dB in the reference form, "
                         + dbText(sqnrOf(output, "lowered")) + " dB lowered");
    if (result.contains("labels") && result["labels"].is_object())
        html += item("Top-1",
                     percent(result["labels"], "float_top1") + " float, "
                         + percent(result["labels"], "int8_top1") + " int8");
    html
        += item("Device", textOf(result, "device") + ", " + textOf(result, "threads") + " threads");
    for (const auto& [name, version] : result.at("versions").items())
        html += item(name, version.is_string() ? version.get<std::string>() : version.dump());
    for (const auto& [stage, seconds] : result.at("timing_s").items())
        html += item("Time: " + stage, decimals(seconds.get<double>(), 2) + " s");
    html += item("Peak memory",
                 decimals(result.at("peak_rss_bytes").get<double>() / 1e6, 0) + " MB");
    return html + "</dl>";
}

std::string worstHtml(const Json& result)
{
    std::vector<std::pair<double, std::string>> losses;
    for (const Json& node : result.at("nodes"))
        if (const auto db = sqnrOf(node, "isolated"); db && *db < 200)
            losses.emplace_back(*db, textOf(node, "name"));
    std::stable_sort(losses.begin(), losses.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    if (losses.size() > kWorst)
        losses.resize(kWorst);
    std::vector<Bar> bars;
    for (const auto& [db, name] : losses)
        bars.push_back({name, db});
    return bars.empty() ? std::string()
                        : "<h2>Layers that lose most by themselves</h2><p>Signal to noise of each "
                          "layer on float inputs: the shorter the bar, the more is lost.</p>"
            + barChartSvg(bars, "dB");
}

std::string outputText(const Json& node)
{
    const Json& output = node.at("output");
    if (!output.is_object())
        return "-";
    std::string text = textOf(output, "dtype");
    if (output.at("scale").size() == 1)
        text += ", scale " + decimals(output["scale"][0].get<double>(), 6) + ", zero point "
            + output.at("zero_point").at(0).dump();
    return text;
}

std::string layersHtml(const Json& result)
{
    std::string html = "<h2>Layer by layer</h2><p>SQNR in dB. Isolated: this layer alone on float "
                       "inputs. Inherited: what its inputs bring. Born here: what it adds. "
                       "Cumulative: all together.</p><table><thead><tr>";
    for (const char* title : {"Node", "Operator", "Module", "Verdict", "Isolated", "Inherited",
                              "Born here", "Cumulative", "Output", "Reason"})
        html += std::string("<th>") + title + "</th>";
    html += "</tr></thead><tbody>";
    for (const Json& node : result.at("nodes")) {
        html += node.at("quantized").get<bool>() ? "<tr>" : "<tr class=\"float\">";
        for (const char* key : {"name", "op", "module", "verdict"})
            html += "<td>" + escapeHtml(textOf(node, key)) + "</td>";
        for (const char* term : {"isolated", "inherited", "born_here", "cumulative"})
            html += "<td class=\"n\">" + dbText(sqnrOf(node, term)) + "</td>";
        html += "<td>" + escapeHtml(outputText(node)) + "</td><td>"
            + escapeHtml(textOf(node, "reason")) + "</td></tr>\n";
    }
    return html + "</tbody></table>";
}

/// The values inside quantized custom modules: an LSTM's gates, by layer and direction.
std::string interiorsHtml(const Json& result)
{
    std::string rows;
    for (const Json& node : result.at("nodes")) {
        const auto interiors = node.find("interior");
        if (interiors == node.end() || !interiors->is_array())
            continue;
        for (const Json& value : *interiors) {
            const auto scales = value.find("scale");
            const bool chosen = scales != value.end() && scales->size() == 1;
            rows += "<tr><td>" + escapeHtml(textOf(node, "name")) + "</td><td>"
                + escapeHtml(textOf(value, "name")) + "</td><td class=\"n\">"
                + dbText(sqnrOf(Json {{"value", value.value("error", Json())}}, "value"))
                + "</td><td>" + escapeHtml(textOf(value, "dtype"))
                + (chosen ? ", scale " + decimals((*scales)[0].get<double>(), 6) + ", zero point "
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

std::string pageHtml(const Json& result, const std::string& histograms)
{
    const std::string title = "Quantscope: "
        + std::filesystem::path(textOf(result.at("model"), "path")).filename().string();
    return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/><title>"
        + escapeHtml(title) + "</title><style>" + kStyle + "</style></head><body><h1>"
        + escapeHtml(title) + "</h1>" + summaryHtml(result) + worstHtml(result) + layersHtml(result)
        + interiorsHtml(result) + histograms + "</body></html>\n";
}

Error notResult(const std::string& path)
{
    return makeError(ErrorCode::BadInput, "not a result of quantscope")
        .inFile(path)
        .withHint("make one with 'quantscope quantize'");
}

} // namespace

Result<void> writeHtmlReport(const std::string& folder, const std::string& htmlPath)
{
    const std::string path = (std::filesystem::path(folder) / "result.json").string();
    std::ifstream in(path, std::ios::binary);
    if (!in)
        return fail(makeError(ErrorCode::NotFound, "there is no result")
                        .inFile(path)
                        .withHint("make one with 'quantscope quantize'"));
    std::ostringstream text;
    text << in.rdbuf();
    const Json result = Json::parse(text.str(), nullptr, false);
    if (result.is_discarded() || !result.is_object()
        || textOf(result, "format") != "quantscope.result")
        return fail(notResult(path));
    try {
        QS_TRY(const std::string histograms, histogramsHtml(result, folder));
        return writeFileAtomically(htmlPath, pageHtml(result, histograms));
    } catch (const std::exception&) { // a key is missing or of another type
        return fail(notResult(path));
    }
}

} // namespace qs
