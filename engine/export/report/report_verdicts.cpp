// SPDX-License-Identifier: Apache-2.0
#include "engine/export/report/report_verdicts.h"

#include "engine/base/decibels.h"
#include "engine/base/files/read_file.h"
#include "engine/base/sha256.h"
#include "engine/base/text.h"
#include "engine/export/exporter.h"
#include "engine/export/report/report_svg.h"
#include "engine/result/result_document.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace qs {

namespace {

using Json = ResultDocument::Json;
namespace fs = std::filesystem;

/// A page stays readable: more nodes than this are counted, not listed.
constexpr std::size_t kMostNodes = 40;

/// Decibels as the page shows them: the least of all outputs under that key.
std::string leastDb(const Json& verdict, const char* key)
{
    double least = kExactDb;
    bool any = false;
    for (const Json& output : verdict.value("outputs", Json::array()))
        if (const auto it = output.find(key); it != output.end() && it->is_number()) {
            least = std::min(least, it->get<double>());
            any = true;
        }
    return any ? sqnrText(least, 1, " dB") : "";
}

/// What the terminal says of the verdict, line by line.
std::string linesList(const Json& verdict)
{
    std::string items;
    for (const Json& line : verdict.value("lines", Json::array()))
        if (line.is_string())
            items += "<li>" + escapeHtml(line.get<std::string>()) + "</li>";
    return items.empty() ? items : "<ul>" + items + "</ul>";
}

std::string cell(const std::string& text)
{
    return "<td class=\"n\">" + text + "</td>";
}

/// "0", "1", "3 to 4", "more than 16": the bins whose ends the certificate tells.
std::string binHeads(const Json& most)
{
    std::string heads;
    std::int64_t before = -1;
    for (const Json& end : most) {
        const auto last = end.get<std::int64_t>();
        heads += "<th>" + (last > before + 1 ? std::to_string(before + 1) + " to " : std::string())
            + std::to_string(last) + "</th>";
        before = last;
    }
    return heads + "<th>more</th>";
}

/// The nodes whose integers differ, the farthest first, with how many of them by how much.
std::string stepsTable(const Json& verdict, const ReportNames& titles)
{
    const auto steps = verdict.find("steps");
    if (steps == verdict.end() || !steps->is_object())
        return {};
    std::vector<const Json*> apart;
    for (const Json& node : steps->at("by_node"))
        if (node.at("largest").get<std::int64_t>() > 0)
            apart.push_back(&node);
    if (apart.empty())
        return {};
    const std::size_t all = apart.size();
    std::stable_sort(apart.begin(), apart.end(), [](const Json* a, const Json* b) {
        return a->at("largest").get<std::int64_t>() > b->at("largest").get<std::int64_t>();
    });
    apart.resize(std::min(all, kMostNodes));
    std::string rows;
    for (const Json* node : apart) {
        rows += "<tr><td>" + escapeHtml(titles.of(fieldText(*node, "node"))) + "</td>";
        for (const Json& count : node->at("histogram"))
            rows += cell(std::to_string(count.get<std::int64_t>()));
        rows += cell(fieldText(*node, "largest")) + "</tr>";
    }
    const std::string left
        = all > apart.size() ? ", of which the farthest " + std::to_string(apart.size()) : "";
    return "<details><summary>" + counted(std::int64_t(all), "node") + " of "
        + fieldText(*steps, "nodes") + " with integers that differ" + left
        + "</summary><table><thead><tr><th>Node; integers by steps apart</th>"
        + binHeads(steps->at("histogram_up_to")) + "<th>largest</th></tr></thead><tbody>" + rows
        + "</tbody></table></details>";
}

std::string verdictRow(const Json& verdict, const std::string& runtime, const ReportNames& titles)
{
    std::string versions;
    const Json packages = verdict.value("versions", Json::object());
    for (const auto& [name, version] : packages.items())
        if (name != "python" && version.is_string())
            versions += " " + version.get<std::string>();
    return "<tr><td>" + escapeHtml(fieldText(verdict, "file")) + "</td><td>"
        + escapeHtml(runtime + versions) + "</td><td>" + escapeHtml(fieldText(verdict, "outcome"))
        + "</td><td>" + leastDb(verdict, "agreement_db") + "</td><td>"
        + leastDb(verdict, "float_db") + "</td><td>" + leastDb(verdict, "own_float_db")
        + "</td><td>" + linesList(verdict) + stepsTable(verdict, titles) + "</td></tr>";
}

/// From which state the calls started, of a model that keeps one.
std::string stateHtml(const Json& certificate)
{
    const std::string state = fieldText(certificate, "state");
    return state == "saved"
        ? " The model keeps state: each call started from the state that the file holds."
        : state == "sequence"
        ? " The model keeps state: each call started from the state that the call before left."
        : "";
}

/// The rows of a certificate. Throws where it is not one that `verify` wrote.
std::string verdictTable(const Json& certificate, const ReportNames& titles)
{
    std::string rows;
    for (const Json& verdict : certificate.at("verdicts"))
        if (const std::string runtime = fieldText(verdict, "runtime"); !runtime.empty())
            rows += verdictRow(verdict, runtime, titles);
    return "<h3>Run where they will run</h3><p>" + escapeHtml(fieldText(certificate, "date"))
        + ", on " + escapeHtml(fieldText(certificate, "processor"))
        + ". Agreement is with what the converted model makes here; the last two figures are "
          "against the float model."
        + stateHtml(certificate)
        + "</p><table><thead><tr><th>File</th><th>Runtime</th>"
          "<th>Result</th><th>Agreement</th><th>There</th><th>Here</th><th></th></tr></thead>"
          "<tbody>"
        + rows + "</tbody></table>";
}

} // namespace

std::string verdictsHtml(const std::string& folder, const ReportNames& titles)
{
    std::string none = "<p>The exports were not run in their own runtimes: "
                       "<b>quantscope verify</b> does.</p>";
    const auto text = readWholeFile((fs::path(folder) / kCertificateFile).string(), 1 << 24);
    const auto hash = fileSha256((fs::path(folder) / "result.json").string());
    if (!text || !hash || isDeepJson(*text))
        return none;
    try {
        const Json certificate = Json::parse(*text);
        return certificate.at("files").at("result.json") == *hash
            ? verdictTable(certificate, titles)
            : none;
    } catch (const Json::exception&) { // somebody changed it
        return none;
    }
}

} // namespace qs
