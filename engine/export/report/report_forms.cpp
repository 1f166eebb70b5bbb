// SPDX-License-Identifier: Apache-2.0
#include "engine/export/report/report_forms.h"

#include "engine/base/text.h"
#include "engine/execute/steps/step_counts.h"
#include "engine/export/report/report_svg.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace qs {

namespace {

using Json = ResultDocument::Json;

const Json* objectAt(const Json& json, const char* key)
{
    const auto it = json.find(key);
    return it != json.end() && it->is_object() ? &*it : nullptr;
}

/// Never more than it is: 100 % is all of them.
std::string shareText(const Json& steps)
{
    const double count = steps.at("count").get<double>();
    const double share = count > 0 ? 100 * steps.at("equal").get<double>() / count : 100;
    return fixedText(std::floor(share * 1000) / 1000, 3) + " %";
}

std::string numberOr(const Json& steps, const char* key, const char* missing)
{
    const Json& value = steps.at(key);
    return value.is_number() ? numberText(std::ceil(value.get<double>() * 1e4) / 1e4) : missing;
}

/// A bar for each difference, on a logarithmic scale: one element of a million is seen.
std::string stepsSvg(const Json& steps)
{
    constexpr double kWidth = 5, kHeight = 22;
    const Json& bins = steps.at("histogram");
    const double most = std::log1p(steps.at("count").get<double>());
    std::string bars, words;
    for (std::size_t i = 0; i < bins.size(); ++i) {
        const double count = bins[i].get<double>();
        if (count == 0)
            continue;
        const int apart = int(i) - StepCounts::kReach;
        const double height = most > 0 ? kHeight * std::log1p(count) / most : 0;
        bars += "<rect class=\"bin\" x=\"" + fixedText(double(i) * kWidth, 0) + "\" y=\""
            + fixedText(kHeight - height, 1) + "\" width=\"" + fixedText(kWidth - 1, 0)
            + "\" height=\"" + fixedText(height, 1) + "\"/>";
        const bool isEnd = i == 0 || i + 1 == bins.size();
        words += (words.empty() ? "" : ", ") + std::string(apart > 0 ? "+" : "")
            + std::to_string(apart) + (isEnd ? " and beyond" : "") + ": " + bins[i].dump();
    }
    return "<svg class=\"steps\" width=\"" + fixedText(kWidth * double(bins.size()), 0)
        + "\" height=\"" + fixedText(kHeight, 0) + "\" role=\"img\" aria-label=\"" + words
        + "\"><title>" + words + "</title>" + bars + "</svg>";
}

std::string cells(const Json* steps)
{
    if (!steps)
        return "<td class=\"n\">-</td><td class=\"n\"></td><td class=\"n\"></td><td></td>";
    return "<td class=\"n\">" + shareText(*steps) + "</td><td class=\"n\">"
        + numberOr(*steps, "mean", "not finite") + "</td><td class=\"n\">"
        + numberOr(*steps, "max", "not finite") + "</td><td>" + stepsSvg(*steps) + "</td>";
}

std::string dbCell(const Json* whole, const char* key)
{
    const auto db = whole ? whole->find(key) : Json::const_iterator();
    const bool isKnown = whole && db != whole->end() && db->is_number();
    return "<td class=\"n\">" + (isKnown ? fixedText(db->get<double>(), 1) : std::string("-"))
        + "</td>";
}

std::string rowOf(const Json& node, const std::string& parting, const ReportNames& titles)
{
    const Json* kernel = objectAt(node, "kernel");
    const Json* alone = kernel ? objectAt(*kernel, "steps") : nullptr;
    const Json* whole = objectAt(node, "departure");
    if (!alone && !whole)
        return {};
    const std::string name = fieldText(node, "name");
    const bool isLowered = kernel && kernel->at("passed").get<bool>();
    return "<tr><td>" + escapeHtml(titles.of(name))
        + (name == parting ? " <b>parts by more than one step here first</b>" : "") + "</td><td>"
        + (isLowered ? escapeHtml(fieldText(*kernel, "name")) : "reference form") + "</td>"
        + cells(alone) + cells(whole) + dbCell(whole, "reference_db") + dbCell(whole, "lowered_db")
        + "</tr>\n";
}

std::string headline(const Json& forms)
{
    std::string text;
    for (const Json& line : forms.value("summary", Json::array()))
        text += "<li>" + escapeHtml(line.get<std::string>()) + "</li>";
    return "<ul>" + text + "</ul>";
}

/// What lowering left of one kind, as a list; "" for nothing.
std::string residueList(const Json& result, const ReportNames& titles, const char* kind)
{
    std::string items;
    const auto residue = result.find("residue");
    if (residue != result.end())
        for (const Json& left : *residue)
            if (fieldText(left, "kind") == kind) {
                const std::string node = fieldText(left, "node");
                items += "<li>"
                    + escapeHtml(node.empty() ? fieldText(left, "name") : titles.of(node)) + ": "
                    + escapeHtml(fieldText(left, "reason")) + "</li>";
            }
    return items.empty() ? items : "<ul>" + items + "</ul>";
}

/// What the plan quantizes and still runs in float between dequantize and quantize, and the pairs
/// that quantize for float readers alone.
std::string stayedHtml(const Json& result, const ReportNames& titles)
{
    const std::string unlowered = residueList(result, titles, "unlowered");
    const std::string dead = residueList(result, titles, "dead_pair");
    return (unlowered.empty() ? "<p>No quantized operator stayed in reference form.</p>"
                              : "<p>Stayed in reference form:</p>" + unlowered)
        + (dead.empty() ? "" : "<p>Quantize-dequantize pairs without effect:</p>" + dead);
}

} // namespace

std::string formsHtml(const Json& result, const ReportNames& titles)
{
    const Json* forms = objectAt(result, "forms");
    if (!forms)
        return {};
    std::string rows;
    for (const Json& node : result.at("nodes"))
        rows += rowOf(node, fieldText(*forms, "parting"), titles);
    return "<h2>Simulated and real</h2>" + headline(*forms)
        + "<p>The reference form simulates integers with floats; the lowered form computes them. "
          "Differences are in steps of each result's quantization, lowered less reference, over "
        + fieldText(*forms, "samples")
        + " samples. Alone: the kernel, fed the reference form's inputs. Whole: both forms run "
          "from the model's inputs on. In dB: each form run whole against the float "
          "model.</p><table><thead><tr><th>Node</th><th>Kernel</th>"
          "<th>Alone: equal</th><th>mean</th><th>max</th><th>-8 to +8</th><th>Whole: equal</th>"
          "<th>mean</th><th>max</th><th>-8 to +8</th><th>Reference, dB</th><th>Lowered, dB</th>"
          "</tr></thead><tbody>"
        + rows + "</tbody></table>" + stayedHtml(result, titles);
}

} // namespace qs
