// SPDX-License-Identifier: Apache-2.0
#include "engine/export/report/report_certificate.h"

#include "engine/base/sha256.h"
#include "engine/base/text.h"
#include "engine/export/report/report_svg.h"
#include "engine/export/report/report_verdicts.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace qs {

namespace {

using Json = ResultDocument::Json;
namespace fs = std::filesystem;

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
        // Beside it, whatever path a result of somebody else's tells.
        const fs::path path = fs::path(folder) / fs::path(name.get<std::string>()).filename();
        std::error_code code;
        if (!fs::is_regular_file(path, code)) {
            rows += row("Export, " + form, name.get<std::string>(), "no longer in the folder");
            continue;
        }
        QS_TRY(const std::string hash, fileSha256(path.string()));
        rows += row("Export, " + form, name.get<std::string>(), hash);
    }
    return rows;
}

/// The kernels of the lowered form that were held against the reference form.
std::string kernelsText(const Json& result, const ReportNames& titles)
{
    int passed = 0;
    double largest = 0;
    std::string refused;
    for (const Json& node : result.at("nodes")) {
        const auto kernel = node.find("kernel");
        if (kernel == node.end() || !kernel->is_object())
            continue;
        if (!kernel->at("passed").get<bool>()) {
            refused += "<li>" + escapeHtml(titles.of(node)) + ": "
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

} // namespace

Result<std::string> certificateHtml(const Json& result, const ReportNames& titles,
                                    const std::string& folder)
{
    QS_TRY(const std::string rows, fileRows(result, folder));
    std::string warnings;
    if (const auto told = result.find("warnings"); told != result.end())
        for (const Json& warning : *told)
            warnings += "<li>" + escapeHtml(warning.get<std::string>()) + "</li>";
    return "<h2>Certificate</h2>" + conditionsText(result)
        + "<table><thead><tr><th>What</th><th>File</th><th>SHA-256</th></tr></thead><tbody>" + rows
        + "</tbody></table>" + kernelsText(result, titles) + verdictsHtml(folder, titles)
        + (warnings.empty() ? std::string() : "<p>Warnings:</p><ul>" + warnings + "</ul>");
}

} // namespace qs
