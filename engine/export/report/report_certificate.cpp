// SPDX-License-Identifier: Apache-2.0
#include "engine/export/report/report_certificate.h"

#include "engine/base/files/read_file.h"
#include "engine/base/sha256.h"
#include "engine/base/text.h"
#include "engine/export/exporter.h"
#include "engine/export/report/report_svg.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

namespace qs {

namespace {

using Json = ResultDocument;
namespace fs = std::filesystem;

/// As the documents cap it: no noise at all.
constexpr double kExactDb = 200;

std::string row(const std::string& what, const std::string& which, const std::string& hash)
{
    return "<tr><td>" + escapeHtml(what) + "</td><td>" + escapeHtml(which) + "</td><td><code>"
        + escapeHtml(hash) + "</code></td></tr>";
}

Result<std::string> fileRows(const Json& result, const std::string& folder)
{
    const Json& model = result.at("model");
    std::string rows = row("Model", fieldText(model, "path"), fieldText(model, "sha256"))
        + row("Recipe", "recipe.json", fieldText(result, "recipe_sha256"));
    if (!result.contains("exports"))
        return rows;
    for (const auto& [form, name] : result["exports"].items()) {
        const fs::path path = fs::path(folder) / name.get<std::string>();
        std::error_code code;
        if (!fs::exists(path, code)) {
            rows += row("Export, " + form, name.get<std::string>(), "no longer in the folder");
            continue;
        }
        QS_TRY(const std::string hash, fileSha256(path.string()));
        rows += row("Export, " + form, name.get<std::string>(), hash);
    }
    return rows;
}

/// The kernels of the lowered form that were held against the reference form.
std::string kernelsText(const Json& result)
{
    int passed = 0;
    double largest = 0;
    std::string refused;
    for (const Json& node : result.at("nodes")) {
        const auto kernel = node.find("kernel");
        if (kernel == node.end() || !kernel->is_object())
            continue;
        if (!kernel->at("passed").get<bool>()) {
            refused += "<li>" + escapeHtml(fieldText(node, "name")) + ": "
                + escapeHtml(fieldText(*kernel, "name"))
                + " stays in reference form: " + escapeHtml(fieldText(*kernel, "reason")) + "</li>";
            continue;
        }
        ++passed;
        if (kernel->at("max_lsb").is_number())
            largest = std::max(largest, kernel->at("max_lsb").get<double>());
    }
    if (passed == 0 && refused.empty())
        return "<p>No kernel was checked.</p>";
    const double shown = std::ceil(largest * 1e4) / 1e4; // never less than it is
    const std::string apart = largest == 0 ? "gave exactly the results they should have"
                                           : "stayed within " + numberText(shown)
            + (shown == 1 ? " step" : " steps") + " of the results they should have";
    return "<p>" + std::to_string(passed)
        + " integer kernels were run on the reference form's inputs and " + apart + ".</p>"
        + (refused.empty() ? std::string() : "<ul>" + refused + "</ul>");
}

std::string conditionsText(const Json& result)
{
    std::string text = "<p>Made by";
    for (const auto& [name, version] : result.at("versions").items())
        text += " " + escapeHtml(name) + " " + escapeHtml(version.get<std::string>()) + ",";
    text += " on " + escapeHtml(fieldText(result, "device")) + " with "
        + fieldText(result, "threads") + " threads";
    if (const auto data = result.find("data"); data != result.end())
        text += ", calibrated on " + fieldText(*data, "calibration_samples")
            + " samples, compared on " + fieldText(*data, "compared_samples");
    return text + ".</p>";
}

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
    char text[32];
    std::snprintf(text, sizeof text, "%.1f dB", least);
    return !any ? "" : least >= kExactDb ? "exact" : text;
}

/// What `verify --speed` found, as the terminal shows it.
std::string speedList(const Json& verdict)
{
    std::string items;
    const Json speed = verdict.value("speed", Json::object());
    for (const Json& line : speed.value("lines", Json::array()))
        if (line.is_string())
            items += "<li>" + escapeHtml(line.get<std::string>()) + "</li>";
    return items.empty() ? items : "<ul>" + items + "</ul>";
}

/// The rows of a certificate. Throws where it is not one that `verify` wrote.
std::string verdictTable(const Json& certificate)
{
    std::string rows;
    for (const Json& verdict : certificate.at("verdicts")) {
        const std::string runtime = fieldText(verdict, "runtime");
        if (runtime.empty())
            continue;
        std::string versions;
        const Json packages = verdict.value("versions", Json::object());
        for (const auto& [name, version] : packages.items())
            if (name != "python" && version.is_string())
                versions += " " + version.get<std::string>();
        rows += "<tr><td>" + escapeHtml(fieldText(verdict, "file")) + "</td><td>"
            + escapeHtml(runtime + versions) + "</td><td>"
            + escapeHtml(fieldText(verdict, "outcome")) + "</td><td>"
            + leastDb(verdict, "agreement_db") + "</td><td>" + leastDb(verdict, "float_db")
            + "</td><td>" + leastDb(verdict, "own_float_db") + "</td><td>"
            + escapeHtml(fieldText(verdict, "reason")) + speedList(verdict) + "</td></tr>";
    }
    return "<h3>Run where they will run</h3><p>" + escapeHtml(fieldText(certificate, "date"))
        + ", on " + escapeHtml(fieldText(certificate, "processor"))
        + ". Agreement is with what the converted model makes here; the last two figures are "
          "against the float model.</p><table><thead><tr><th>File</th><th>Runtime</th>"
          "<th>Result</th><th>Agreement</th><th>There</th><th>Here</th><th></th></tr></thead>"
          "<tbody>"
        + rows + "</tbody></table>";
}

/// What `verify` left in the folder, where it is about this very result.
std::string verifiedText(const std::string& folder)
{
    const std::string none = "<p>The exports were not run in their own runtimes: "
                             "<b>quantscope verify</b> does.</p>";
    const auto text = readWholeFile((fs::path(folder) / kCertificateFile).string(), 1 << 24);
    const auto hash = fileSha256((fs::path(folder) / "result.json").string());
    if (!text || !hash || isDeepJson(*text))
        return none;
    try {
        const Json certificate = Json::parse(*text);
        return certificate.at("files").at("result.json") == *hash ? verdictTable(certificate)
                                                                  : none;
    } catch (const Json::exception&) { // somebody changed it
        return none;
    }
}

} // namespace

Result<std::string> certificateHtml(const Json& result, const std::string& folder)
{
    QS_TRY(const std::string rows, fileRows(result, folder));
    std::string warnings;
    if (const auto told = result.find("warnings"); told != result.end())
        for (const Json& warning : *told)
            warnings += "<li>" + escapeHtml(warning.get<std::string>()) + "</li>";
    return "<h2>Certificate</h2>" + conditionsText(result)
        + "<table><thead><tr><th>What</th><th>File</th><th>SHA-256</th></tr></thead><tbody>" + rows
        + "</tbody></table>" + kernelsText(result) + verifiedText(folder)
        + (warnings.empty() ? std::string() : "<p>Warnings:</p><ul>" + warnings + "</ul>");
}

} // namespace qs
