// SPDX-License-Identifier: Apache-2.0
#include "engine/export/report/report_certificate.h"

#include "engine/base/decibels.h"
#include "engine/base/files/read_file.h"
#include "engine/base/sha256.h"
#include "engine/base/text.h"
#include "engine/export/exporter.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace qs {

namespace {

namespace fs = std::filesystem;

/// Most nodes that the page lists, to keep it readable; the rest are only counted.
constexpr std::size_t kMostNodes = 40;

/// The least value of `key` over all outputs of a verdict, in dB; "" if no output has one.
std::string leastDb(const ReportJson& verdict, const char* key)
{
    std::optional<double> least;
    for (const ReportJson& output : verdict.value("outputs", ReportJson::array()))
        if (const auto db = numberAt(output, key))
            least = std::min(least.value_or(kExactDb), *db);
    return least ? sqnrText(*least, 1, " dB") : "";
}

/// Titles of the bins with these upper ends, for example "0", "1", "3 to 4".
ReportJson binHeads(const ReportJson& ends)
{
    ReportJson heads = ReportJson::array();
    std::int64_t before = -1;
    for (const ReportJson& end : ends) {
        const auto last = end.get<std::int64_t>();
        heads.push_back((last > before + 1 ? std::to_string(before + 1) + " to " : std::string())
                        + std::to_string(last));
        before = last;
    }
    return heads;
}

/// The nodes whose integers differ, largest difference first, each with its histogram of
/// differences: `{summary, bins, differing[]}`.
ReportJson apartValues(const ReportJson& steps, const ReportTitles& titles)
{
    std::vector<ReportJson> apart;
    for (const ReportJson& node : steps.at("by_node"))
        if (node.at("largest").get<std::int64_t>() > 0)
            apart.push_back(node);
    std::stable_sort(apart.begin(), apart.end(), [](const ReportJson& a, const ReportJson& b) {
        return a.at("largest").get<std::int64_t>() > b.at("largest").get<std::int64_t>();
    });
    const std::size_t all = apart.size();
    apart.resize(std::min(all, kMostNodes));
    for (ReportJson& node : apart)
        node["title"] = titleIn(titles, fieldText(node, "node"));
    return {{"summary",
             counted(std::int64_t(all), "node") + " of " + fieldText(steps, "nodes")
                 + " with integers that differ"
                 + (all > kMostNodes ? "; listed are the " + std::to_string(kMostNodes)
                            + " with the largest differences"
                                     : "")},
            {"bins", binHeads(steps.at("histogram_up_to"))},
            {"differing", apart}};
}

void addVerdictValues(ReportJson& verdict, const ReportTitles& titles)
{
    std::string packages;
    const ReportJson versions = verdict.value("versions", ReportJson::object());
    for (const auto& [name, version] : versions.items())
        if (name != "python" && version.is_string())
            packages += " " + version.get<std::string>();
    verdict["packages"] = packages;
    verdict["agreement"] = leastDb(verdict, "agreement_db");
    verdict["there"] = leastDb(verdict, "float_db");
    verdict["here"] = leastDb(verdict, "own_float_db");
    if (const ReportJson* steps = memberOf(verdict, "steps"); steps && steps->is_object())
        verdict["steps"] = apartValues(*steps, titles);
}

} // namespace

std::string titleIn(const ReportTitles& titles, const std::string& name)
{
    const auto found = titles.find(name);
    return found == titles.end() ? name : found->second;
}

Result<ReportJson> fileValues(const ReportJson& result, const std::string& folder)
{
    ReportJson rows = ReportJson::array();
    const auto add
        = [&rows](const std::string& what, const std::string& name, const std::string& hash) {
              rows.push_back({{"what", what}, {"name", name}, {"sha256", hash}});
          };
    const ReportJson& model = result.at("model");
    add("Model", fieldText(model, "path"), fieldText(model, "sha256"));
    add("Recipe", "recipe.json", fieldText(result, "recipe_sha256"));
    const ReportJson exports = result.value("exports", ReportJson::object());
    for (const auto& [form, name] : exports.items()) {
        // In the result's folder, whatever path the result names.
        const fs::path path = fs::path(folder) / fs::path(name.get<std::string>()).filename();
        std::error_code code;
        std::string hash = "no longer in the folder";
        if (fs::is_regular_file(path, code)) {
            QS_TRY(hash, fileSha256(path.string()));
        }
        add("Export, " + form, name.get<std::string>(), hash);
    }
    return rows;
}

ReportJson kernelValues(const ReportJson& result)
{
    int passed = 0;
    double largest = 0;
    ReportJson refused = ReportJson::array();
    for (const ReportJson& node : result.at("nodes")) {
        const ReportJson* kernel = memberOf(node, "kernel");
        if (!kernel)
            continue;
        if (!kernel->at("passed").get<bool>()) {
            refused.push_back({{"title", fieldText(node, "title")}, {"kernel", *kernel}});
            continue;
        }
        ++passed;
        largest = std::max(largest, numberAt(*kernel, "max_lsb").value_or(0));
    }
    if (passed == 0 && refused.empty())
        return {{"text", "No kernel was checked."}};
    const double shown = std::ceil(largest * 1e4) / 1e4; // rounded up: never below the real value
    return {{"text",
             std::to_string(passed)
                 + " integer kernels were run on the reference form's inputs and "
                 + (largest == 0 ? "gave exactly the expected results"
                                 : "stayed within " + numberText(shown)
                            + (shown == 1 ? " step" : " steps") + " of the expected results")
                 + "."},
            {"refused", refused}};
}

ReportJson certificateValues(const std::string& folder, const ReportTitles& titles)
{
    const auto text = readWholeFile((fs::path(folder) / kCertificateFile).string(), 1 << 24);
    const auto hash = fileSha256((fs::path(folder) / "result.json").string());
    if (!text || !hash || isDeepJson(*text))
        return nullptr;
    try {
        ReportJson certificate = ReportJson::parse(*text);
        if (certificate.at("files").at("result.json") != *hash)
            return nullptr;
        for (ReportJson& verdict : certificate.at("verdicts"))
            addVerdictValues(verdict, titles);
        const std::string state = fieldText(certificate, "state");
        const std::string from = state == "saved" ? "the file holds"
            : state == "sequence"                 ? "the call before left"
                                                  : "";
        certificate["started"] = from.empty()
            ? from
            : " The model keeps state: each call started from the state that " + from + ".";
        return certificate;
    } catch (const ReportJson::exception&) { // the certificate was edited
        return nullptr;
    }
}

} // namespace qs
