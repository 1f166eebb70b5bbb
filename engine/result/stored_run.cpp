// SPDX-License-Identifier: Apache-2.0
#include "engine/result/stored_run.h"

#include "engine/base/sha256.h"
#include "engine/result/error_json.h"
#include "engine/result/result_figures.h"

#include <algorithm>
#include <filesystem>

namespace qs {

namespace fs = std::filesystem;

namespace {

/// Resolves a path in a document as it was given to the run: absolute, or relative to the run's
/// working folder, which may be any folder around the results. Of several files with this name,
/// prefers the one with the given hash.
std::string locate(const std::string& path, const fs::path& folder, const std::string& sha256 = {})
{
    std::error_code code;
    if (path.empty() || path == "sample" || fs::path(path).is_absolute())
        return path;
    std::vector<std::string> found;
    const auto add = [&](const fs::path& place) {
        const std::string file = place.lexically_normal().string();
        if (fs::exists(place, code) && std::find(found.begin(), found.end(), file) == found.end())
            found.push_back(file);
    };
    fs::path from = fs::absolute(folder, code);
    for (int level = 0; level < 4; ++level, from = from.parent_path())
        add(from / path);
    add(fs::absolute(path, code));
    if (found.size() > 1 && !sha256.empty())
        for (const std::string& file : found)
            if (const auto hash = fileSha256(file); hash && *hash == sha256)
                return file;
    return found.empty() ? fs::absolute(path, code).string() : found.front();
}

std::map<std::string, std::string> texts(const Json& owner, const char* key)
{
    std::map<std::string, std::string> out;
    if (const auto it = owner.find(key); it != owner.end() && it->is_object())
        for (const auto& [name, value] : it->items())
            if (value.is_string())
                out[name] = value.get<std::string>();
    return out;
}

void addNode(const Json& entry, const Graph& model, Comparison& comparison)
{
    const Node* node = model.tryFind(entry.at("name").get<std::string>());
    if (!node)
        return;
    if (const Json* departure = memberOf(entry, "departure"))
        comparison.departures.push_back(departureFromJson(node->id, *departure));
    if (!memberOf(entry, "error"))
        return;
    comparison.nodes.push_back(errorsAt(entry));
    comparison.nodes.back().node = node->id;
    if (const Json* inside = memberOf(entry, "interior"))
        for (const Json& value : *inside)
            if (value.contains("error"))
                comparison.interiors.push_back(
                    {node->id, value.at("name").get<std::string>(), metricsAt(value, "error")});
}

} // namespace

bool isResult(const std::string& path)
{
    std::error_code code;
    return fs::is_directory(path, code) ? fs::is_regular_file(fs::path(path) / "result.json", code)
                                        : fs::path(path).filename() == "result.json";
}

Result<StoredRun> readStoredRun(const std::string& fileOrFolder, const JobContext& job)
{
    QS_TRY(const ResultDocument document, ResultDocument::read(fileOrFolder, job));
    const fs::path folder = fs::path(document.path()).parent_path();
    QS_TRY(StoredRun run, document.made<StoredRun>([&](const Json& json) -> Result<StoredRun> {
        StoredRun out;
        const Json& model = json.at("model");
        out.modelSha256 = model.at("sha256").get<std::string>();
        out.modelPath = locate(model.at("path").get<std::string>(), folder, out.modelSha256);
        const Json& data = json.at("data");
        out.calibrationData = locate(data.value("calibration", ""), folder);
        out.dataSha256 = data.value("calibration_sha256", "");
        out.comparisonData = locate(data.value("comparison", ""), folder);
        out.comparedSha256 = data.value("comparison_sha256", "");
        out.device = json.value("device", "");
        out.againstOriginal = resultFigures(json).againstOriginal;
        out.allLocalTerms
            = json.value("local_terms", kAllLocalTerms) == std::string(kAllLocalTerms);
        out.exports = texts(json, "exports");
        out.exportHashes = texts(json, "exports_sha256");
        if (const Json* own = memberOf(json, "own_ranges"))
            out.saturatingFiles = own->at("files").get<std::vector<std::string>>();
        out.threads = json.value("threads", 0);
        out.recipeSha256 = json.value("recipe_sha256", "");
        return out;
    }));
    QS_CHECK(job.check());
    run.folder = folder.string();
    run.document = document;
    QS_TRY(run.recipe, readRecipe((folder / "recipe.json").string()));
    return run;
}

Result<ComparisonPtr> comparisonFromResult(const ResultDocument& document, const Graph& model)
{
    return document.made<ComparisonPtr>([&](const Json& json) -> Result<ComparisonPtr> {
        auto out = std::make_shared<Comparison>();
        static_cast<WholeErrors&>(*out) = resultFigures(json);
        for (const Json& entry : json.at("nodes"))
            addNode(entry, model, *out);
        out->threads = json.value("threads", 0);
        if (const Json* forms = memberOf(json, "forms"))
            out->departureSamples = forms->value("samples", std::int64_t(0));
        return ComparisonPtr(std::move(out));
    });
}

} // namespace qs
