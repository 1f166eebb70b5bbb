// SPDX-License-Identifier: Apache-2.0
#include "engine/export/documents/stored_run.h"

#include "engine/base/files/read_file.h"
#include "engine/base/sha256.h"
#include "engine/configure/json/json_text.h"
#include "engine/export/documents/result_document.h"
#include "engine/export/documents/steps_json.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

namespace qs {

namespace fs = std::filesystem;

namespace {

using Json = ResultDocument;

/// A path of a document as it was given to the run: absolute, or from the folder that the run was
/// started in, which may have been any around the results. Of several files that are called so, the
/// one with this content, where it is known.
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

/// Documents write null for what is no finite number.
double number(const Json& owner, const char* key)
{
    const Json& value = owner.at(key);
    return value.is_null() ? std::numeric_limits<double>::infinity() : value.get<double>();
}

std::optional<ErrorMetrics> metrics(const Json& owner, const char* key)
{
    const auto it = owner.find(key);
    if (it == owner.end() || it->is_null())
        return std::nullopt;
    ErrorMetrics out;
    if (!it->at("sqnr_db").is_null())
        out.sqnrDb = it->at("sqnr_db").get<double>();
    out.cosine = number(*it, "cosine");
    out.mse = number(*it, "mse");
    out.maxAbs = number(*it, "max_abs");
    return out;
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

std::optional<double> share(const Json& labels, const char* key)
{
    const auto it = labels.find(key);
    return it == labels.end() || it->is_null() ? std::nullopt : std::optional(it->get<double>());
}

void addNode(const Json& entry, const Graph& model, Comparison& comparison)
{
    const Node* node = model.tryFind(entry.at("name").get<std::string>());
    const auto departure = entry.find("departure");
    if (node && departure != entry.end() && departure->is_object())
        comparison.departures.push_back(departureFromJson(node->id, *departure));
    const auto error = entry.find("error");
    if (!node || error == entry.end() || error->is_null())
        return;
    comparison.nodes.push_back({node->id, metrics(*error, "isolated"), metrics(*error, "inherited"),
                                metrics(*error, "born_here"), metrics(*error, "cumulative"),
                                errorTerm(entry, "cumulative", "kl")});
    if (const auto inside = entry.find("interior"); inside != entry.end() && inside->is_array())
        for (const Json& value : *inside)
            if (value.contains("error"))
                comparison.interiors.push_back(
                    {node->id, value.at("name").get<std::string>(), metrics(value, "error")});
}

Comparison readComparison(const Json& document, const Graph& model)
{
    Comparison out;
    out.againstOriginal = isAgainstOriginal(document);
    if (const auto unpaired = document.find("unpaired");
        unpaired != document.end() && unpaired->is_array())
        for (const Json& line : *unpaired)
            out.unpaired.push_back(line.get<std::string>());
    for (const Json& entry : document.at("nodes"))
        addNode(entry, model, out);
    for (const Json& entry : document.at("outputs"))
        out.outputs.push_back({entry.at("name").get<std::string>(), metrics(entry, "cumulative"),
                               metrics(entry, "lowered"), metrics(entry, "forms")});
    out.samples = document.at("data").value("compared_samples", std::int64_t(0));
    out.threads = document.value("threads", 0);
    if (const auto forms = document.find("forms"); forms != document.end() && forms->is_object())
        out.departureSamples = forms->value("samples", std::int64_t(0));
    if (const auto labels = document.find("labels");
        labels != document.end() && labels->is_object()) {
        out.floatTop1 = share(*labels, "float_top1");
        out.int8Top1 = share(*labels, "int8_top1");
    }
    if (const auto agreement = document.find("agreement");
        agreement != document.end() && agreement->is_object())
        out.agreement
            = {agreement->at("output").get<std::string>(), agreement->at("top1").get<double>()};
    return out;
}

} // namespace

bool isResult(const std::string& path)
{
    std::error_code code;
    return fs::is_directory(path, code) ? fs::is_regular_file(fs::path(path) / "result.json", code)
                                        : fs::path(path).filename() == "result.json";
}

Result<StoredRun> readStoredRun(const std::string& pathOrFolder, const JobContext& job)
{
    std::error_code code;
    StoredRun run;
    const fs::path path(pathOrFolder);
    if (!fs::exists(path, code))
        return fail(makeError(ErrorCode::NotFound, "there is no such result")
                        .inFile(pathOrFolder)
                        .withHint("make one with 'quantscope quantize'"));
    const fs::path folder = fs::is_directory(path, code) ? path : path.parent_path();
    run.folder = folder.string();
    QS_TRY(run.document,
           fromResultFolder(
               run.folder,
               [&](const Json& json) -> Result<std::string> {
                   const Json& model = json.at("model");
                   run.modelSha256 = model.at("sha256").get<std::string>();
                   run.modelPath
                       = locate(model.at("path").get<std::string>(), folder, run.modelSha256);
                   const Json& data = json.at("data");
                   run.calibrationData = locate(data.value("calibration", ""), folder);
                   run.dataSha256 = data.value("calibration_sha256", "");
                   run.comparisonData = locate(data.value("comparison", ""), folder);
                   run.comparedSha256 = data.value("comparison_sha256", "");
                   run.device = json.value("device", "");
                   run.againstOriginal = isAgainstOriginal(json);
                   run.exports = texts(json, "exports");
                   run.exportHashes = texts(json, "exports_sha256");
                   if (const auto own = json.find("own_ranges");
                       own != json.end() && !own->is_null())
                       run.saturatingFiles = own->at("files").get<std::vector<std::string>>();
                   run.threads = json.value("threads", 0);
                   return jsonText(json, {}, job);
               },
               job));
    QS_CHECK(job.check());
    QS_TRY(run.recipe, readRecipe((folder / "recipe.json").string()));
    return run;
}

Result<ComparisonPtr> comparisonFromResult(const std::string& json, const Graph& model)
{
    const Json document
        = isDeepJson(json) ? Json(Json::value_t::discarded) : Json::parse(json, nullptr, false);
    const auto notResult = [] { return fail(ErrorCode::BadInput, "not a result of quantscope"); };
    if (document.is_discarded() || !document.is_object())
        return notResult();
    try {
        return std::make_shared<const Comparison>(readComparison(document, model));
    } catch (const Json::exception&) { // a key is missing or of another type
        return notResult();
    }
}

} // namespace qs
