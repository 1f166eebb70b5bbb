// SPDX-License-Identifier: Apache-2.0
#include "engine/project/project.h"

#include "engine/base/files/atomic_file.h"
#include "engine/base/files/read_file.h"
#include "engine/base/log.h"
#include "engine/compare/comparison.h"
#include "engine/configure/json/recipe_json.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

namespace qs {

namespace {

namespace fs = std::filesystem;

constexpr auto kProjectFormat = "quantscope.project";
constexpr std::uint64_t kProjectVersion = 1;
constexpr auto kSample = "sample"; ///< data that the model's own file holds

std::string relativeTo(const std::string& path, const fs::path& folder)
{
    if (path.empty())
        return path;
    const fs::path absolute = fs::absolute(path).lexically_normal();
    const fs::path relative = absolute.lexically_relative(fs::absolute(folder).lexically_normal());
    const bool below = !relative.empty() && *relative.begin() != "..";
    return below ? relative.generic_string() : absolute.generic_string();
}

std::string absoluteFrom(const std::string& path, const fs::path& folder)
{
    if (path.empty() || fs::path(path).is_absolute())
        return path;
    return (fs::absolute(folder) / path).lexically_normal().generic_string();
}

std::string dataFrom(const std::string& path, const fs::path& folder)
{
    return path == kSample ? path : absoluteFrom(path, folder);
}

Result<std::string> textMember(const Json& json, const char* key, const std::string& path)
{
    if (!json.contains(key))
        return std::string();
    if (!json[key].is_string())
        return fail(
            makeError(ErrorCode::BadInput, std::string("'") + key + "' is not text").inFile(path));
    return json[key].get<std::string>();
}

constexpr std::string_view kKeys[]
    = {"format",  "version",     "model",  "model_sha256", "data",    "comparison", "device",
       "against", "local_terms", "result", "recipe",       "history", "window"};

Result<void> checkHeader(const Json& json, const std::string& path)
{
    const auto format = json.is_object() ? json.find("format") : json.end();
    if (!json.is_object() || format == json.end() || *format != kProjectFormat)
        return fail(makeError(ErrorCode::BadInput, "not a Quantscope project").inFile(path));
    if (!json.contains("version") || !json["version"].is_number_integer())
        return fail(
            makeError(ErrorCode::BadInput, "the project has no version number").inFile(path));
    const Json& version = json["version"];
    if (!version.is_number_unsigned() || version.get<std::uint64_t>() == 0)
        return fail(makeError(ErrorCode::BadInput, "there is no project version " + version.dump())
                        .inFile(path));
    if (version.get<std::uint64_t>() > kProjectVersion)
        return fail(makeError(ErrorCode::BadInput,
                              "project version " + version.dump() + " is newer than this program's "
                                  + std::to_string(kProjectVersion))
                        .inFile(path)
                        .withHint("open it with a newer Quantscope"));
    for (const auto& [key, unused] : json.items())
        if (std::find(std::begin(kKeys), std::end(kKeys), key) == std::end(kKeys))
            return fail(makeError(ErrorCode::BadInput, "unknown key '" + key + "'").inFile(path));
    return {};
}

/// The project's history; empty, with a warning, if it cannot be read: the project opens without
/// it.
DecisionHistory historyOf(const Json& json, const Project& project, const std::string& path)
{
    const auto it = json.find("history");
    if (it == json.end() || it->is_null())
        return {};
    auto history = readHistory(*it, path, project.recipe);
    if (history)
        return std::move(*history);
    warn(path + ": undo and redo start empty, as the history cannot be read: "
         + history.error().message + "; the decisions are complete");
    return {};
}

} // namespace

Result<Project> readProject(const std::string& path)
{
    QS_TRY(const std::string text, readTextFile(path));
    const Json json
        = isDeepJson(text) ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, false);
    if (json.is_discarded())
        return fail(makeError(ErrorCode::BadInput, "not a JSON file").inFile(path));
    QS_CHECK(checkHeader(json, path));

    const fs::path folder = fs::absolute(path).parent_path();
    Project project;
    QS_TRY(const std::string model, textMember(json, "model", path));
    if (model.empty())
        return fail(makeError(ErrorCode::BadInput, "the project names no model").inFile(path));
    QS_TRY(const std::string data, textMember(json, "data", path));
    QS_TRY(const std::string comparison, textMember(json, "comparison", path));
    QS_TRY(const std::string device, textMember(json, "device", path));
    QS_TRY(const std::string against, textMember(json, "against", path));
    if (!against.empty() && against != "edited" && against != "original")
        return fail(makeError(ErrorCode::BadInput,
                              "'against' is \"edited\" or \"original\", not \"" + against + "\"")
                        .inFile(path));
    project.againstOriginal = against == "original";
    QS_TRY(const std::string terms, textMember(json, "local_terms", path));
    if (!terms.empty() && terms != kAllLocalTerms && terms != kSampledLocalTerms)
        return fail(makeError(ErrorCode::BadInput,
                              "'local_terms' is \"sampled\" or \"all\", not \"" + terms + "\"")
                        .inFile(path));
    project.allLocalTerms = terms == kAllLocalTerms;
    QS_TRY(const std::string result, textMember(json, "result", path));
    QS_TRY(project.modelSha256, textMember(json, "model_sha256", path));
    project.modelPath = absoluteFrom(model, folder);
    project.dataPath = dataFrom(data, folder);
    project.comparisonPath = dataFrom(comparison, folder);
    if (!device.empty())
        project.device = device;
    project.resultFolder = absoluteFrom(result, folder);
    project.recipe = defaultRecipe();
    if (json.contains("recipe")) {
        QS_TRY(project.recipe, recipeFromJson(json["recipe"], path));
    }
    project.history = historyOf(json, project, path);
    if (json.contains("window"))
        project.windowState = json["window"].dump();
    return project;
}

Result<void> writeProject(const Project& project, const std::string& path)
{
    const fs::path folder = fs::absolute(path).parent_path();
    Json json;
    json["format"] = kProjectFormat;
    json["version"] = kProjectVersion;
    json["model"] = relativeTo(project.modelPath, folder);
    json["model_sha256"] = project.modelSha256;
    json["data"] = project.dataPath == kSample ? kSample : relativeTo(project.dataPath, folder);
    json["comparison"] = relativeTo(project.comparisonPath, folder);
    json["device"] = project.device;
    if (project.againstOriginal)
        json["against"] = "original";
    if (project.allLocalTerms)
        json["local_terms"] = kAllLocalTerms;
    json["result"] = relativeTo(project.resultFolder, folder);
    json["recipe"] = recipeAsJson(writtenBeside(project.recipe, path));
    json["history"] = historyToJson(project.history, path);
    const Json window = Json::parse(project.windowState, nullptr, false);
    json["window"] = window.is_discarded() ? Json::object() : window;

    return writeFileAtomically(path, json.dump(2) + "\n");
}

std::string runsFolderOf(const std::string& projectPath)
{
    return fs::path(projectPath).replace_extension(".runs").string();
}

bool isProjectFile(const std::string& path)
{
    if (!checkReadable(path))
        return false;
    std::ifstream file(path, std::ios::binary);
    std::string head(256, '\0');
    file.read(head.data(), std::streamsize(head.size()));
    head.resize(std::size_t(file.gcount()));
    return head.find('{') != std::string::npos && head.find(kProjectFormat) != std::string::npos;
}

} // namespace qs
