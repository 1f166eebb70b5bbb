// SPDX-License-Identifier: Apache-2.0
#include "engine/runs/run_store.h"

#include "engine/base/files/atomic_file.h"
#include "engine/base/json/json_reader.h"
#include "engine/base/json/json_text.h"
#include "engine/base/json/nearest_name.h"
#include "engine/base/log.h"
#include "engine/base/text.h"
#include "engine/configure/backend_config.h"
#include "engine/edit/cures/model_cures.h"
#include "engine/pipeline/result_folder.h"
#include "engine/pipeline/tune/trial_name.h"
#include "engine/runs/recipe_diff.h"

#include <algorithm>
#include <ctime>
#include <filesystem>

namespace qs {

namespace fs = std::filesystem;

namespace {

constexpr auto kRunFormat = "quantscope.run";
constexpr int kStoreVersion = 1;
constexpr std::size_t kLongestName = 120; ///< bytes; file systems allow 255

/// Converts a name to a folder name: no separators, no leading dot, no control characters.
std::string folderName(const std::string& name)
{
    std::string out = printable(name);
    for (char& c : out)
        if (std::string_view("/\\:*?\"<>|\t\n\r").find(c) != std::string_view::npos)
            c = '-';
    while (!out.empty() && (out.front() == '.' || out.front() == ' '))
        out.erase(out.begin());
    while (!out.empty() && (out.back() == '.' || out.back() == ' '))
        out.pop_back();
    return out.empty() ? "run" : out;
}

/// Returns the name as one line of limited length, cut between characters.
std::string tidyName(std::string name)
{
    name = asOneLine(std::move(name));
    if (name.size() > kLongestName) {
        std::size_t end = kLongestName;
        while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80)
            --end;
        name.resize(end);
    }
    const auto first = name.find_first_not_of(' ');
    return first == std::string::npos ? std::string()
                                      : name.substr(first, name.find_last_not_of(' ') - first + 1);
}

bool isTaken(const std::vector<RunEntry>& runs, const std::string& name)
{
    const std::string folder = folderName(name);
    return std::any_of(runs.begin(), runs.end(), [&](const RunEntry& run) {
        return run.label.name == name || fs::path(run.folder).filename() == folder;
    });
}

std::string freeName(const std::vector<RunEntry>& runs, const std::string& wanted)
{
    std::string name = wanted;
    for (int number = 2; isTaken(runs, name); ++number)
        name = wanted + ' ' + std::to_string(number);
    return name;
}

Json labelJson(const RunLabel& label)
{
    Json json = {{"format", kRunFormat},     {"version", kStoreVersion}, {"name", label.name},
                 {"created", label.created}, {"note", label.note},       {"source", label.source},
                 {"named", label.isNamed}};
    if (!label.key.empty())
        json["decisions"] = label.key;
    return json;
}

/// Returns the parts of a result document that lists show, with unchanged keys.
Json excerpt(const Json& document)
{
    Json out = Json::object();
    for (const char* key : {"model", "compared", "outputs", "labels", "agreement", "evaluation",
                            "coverage", "weights", "data", "samples", "against"})
        if (const auto it = document.find(key); it != document.end())
            out[key] = *it;
    return out;
}

Error notLabel(const std::string& path)
{
    return makeError(ErrorCode::BadInput, "not the label of a kept run").inFile(path);
}

Result<Json> labelFile(const std::string& folder)
{
    const std::string path = (fs::path(folder) / kRunFile).string();
    QS_TRY(const std::string text, readTextFile(path));
    QS_TRY(Json json, parseJson(text, path));
    if (!json.is_object() || json.value("format", Json()) != kRunFormat)
        return fail(notLabel(path));
    if (json.value("version", Json()) != kStoreVersion)
        return fail(
            makeError(ErrorCode::BadInput, "kept by another version of this program").inFile(path));
    return json;
}

RunLabel labelOf(const Json& json, const std::string& folder)
{
    RunLabel label;
    label.name = json.at("name").get<std::string>();
    label.created = json.at("created").get<std::string>();
    label.note = json.value("note", "");
    label.source = json.value("source", folder);
    label.isNamed = json.value("named", true);
    label.key = json.value("decisions", "");
    return label;
}

/// Reads `run.json` and the files next to it; the error is the reason why the run is damaged.
Result<RunEntry> readKept(const std::string& folder)
{
    QS_TRY(const Json json, labelFile(folder));
    const fs::path place(folder);
    RunEntry run;
    run.folder = folder;
    try {
        run.label = labelOf(json, folder);
        const Json& shown = json.at("result");
        run.headline = resultFigures(shown);
        run.modelPath = shown.at("model").at("path").get<std::string>();
        run.modelSha256 = shown.at("model").at("sha256").get<std::string>();
        if (shown.contains("compared"))
            run.foreignPath = shown.at("compared").at("path").get<std::string>();
    } catch (const Json::exception&) {
        return fail(notLabel((place / kRunFile).string()));
    }
    std::error_code code;
    if (!fs::is_regular_file(place / "result.json", code))
        return fail(makeError(ErrorCode::NotFound, "its result is missing")
                        .inFile((place / "result.json").string()));
    if (!run.foreignPath.empty()) {
        run.decisions = "quantized by another program";
        return run;
    }
    QS_TRY(const Recipe recipe, readRecipe((place / "recipe.json").string()));
    run.isEdited = changesModel(recipe);
    run.decisions = recipeInWords(recipe);
    if (json.at("result").value("against", Json()) == "original")
        run.decisions += ", against the original model";
    return run;
}

Result<void> changeLabel(const RunEntry& run, const std::function<void(Json&)>& change)
{
    QS_TRY(Json json, labelFile(run.folder));
    change(json);
    return writeFileAtomically((fs::path(run.folder) / kRunFile).string(), json.dump(2) + "\n");
}

std::vector<std::string> namesOf(const std::vector<RunEntry>& runs)
{
    std::vector<std::string> names;
    for (const RunEntry& run : runs)
        names.push_back(run.label.name);
    return names;
}

/// Fails unless the run's folder is directly below the runs' folder; labels and callers are not
/// trusted.
Result<void> checkInside(const std::string& runsFolder, const RunEntry& run)
{
    std::error_code code;
    if (fs::equivalent(fs::path(run.folder).parent_path(), runsFolder, code) && !code)
        return {};
    return fail(makeError(ErrorCode::BadInput, "no run of this folder").inFile(run.folder));
}

/// Saves a run's document with the texts it was read from.
Result<RunEntry> keepResult(const std::string& runsFolder, const ResultDocument& result,
                            const RunDocuments& documents, RunLabel label)
{
    label.name = tidyName(label.name);
    if (label.name.empty())
        label.name = tidyName(fs::path(label.source).stem().string());
    label.name = freeName(listRuns(runsFolder), label.name);
    if (label.created.empty())
        label.created = utcText(std::time(nullptr));
    QS_TRY(ResultFolder folder, ResultFolder::create(runsFolder));
    const std::string name = folderName(label.name);
    const fs::path staging = fs::path(folder.staging()) / name;
    std::error_code code;
    fs::create_directory(staging, code);
    Json json = labelJson(label);
    json["result"] = excerpt(result.json());
    const auto write = [&](const char* file, const std::string& text) -> Result<void> {
        return text.empty() ? Result<void>() : writeFileAtomically((staging / file).string(), text);
    };
    QS_CHECK(write("result.json", documents.result));
    QS_CHECK(write("recipe.json", documents.recipe));
    QS_CHECK(write(kBackendFile, documents.backend));
    if (!documents.trained.empty()) {
        const fs::path trained(documents.trained);
        if (!fs::copy_file(trained, staging / trained.filename(), code))
            return fail(makeError(ErrorCode::Io, "cannot be copied: " + code.message())
                            .inFile(documents.trained));
    }
    QS_CHECK(write(kRunFile, json.dump(2) + "\n"));
    QS_CHECK(folder.publish(name));
    return readKept((fs::path(runsFolder) / name).string());
}

} // namespace

Result<RunLabel> readRunLabel(const std::string& folder)
{
    QS_TRY(const Json json, labelFile(folder));
    try {
        return labelOf(json, folder);
    } catch (const Json::exception&) {
        return fail(notLabel((fs::path(folder) / kRunFile).string()));
    }
}

Result<RunEntry> keepRun(const std::string& runsFolder, const RunDocuments& documents,
                         RunLabel label)
{
    QS_TRY(const ResultDocument result, ResultDocument::fromText(documents.result, label.source));
    QS_CHECK(runFromDocument(result));
    return keepResult(runsFolder, result, documents, std::move(label));
}

Result<RunEntry> keepRunFrom(const std::string& runsFolder, const std::string& source,
                             RunLabel label)
{
    QS_TRY(const ResultDocument result, ResultDocument::read(source));
    QS_TRY(const RunRecord record, readRun(result));
    std::error_code code;
    const fs::path folder = fs::path(result.path()).parent_path();
    RunDocuments documents;
    QS_TRY(documents.result, readTextFile(result.path()));
    if (!record.isForeign()) {
        if (!record.recipe)
            return fail(makeError(ErrorCode::BadInput, "there is no recipe beside the result")
                            .inFile(source)
                            .withHint("keep the folder that 'quantscope quantize' wrote"));
        QS_TRY(documents.recipe, readTextFile((folder / "recipe.json").string()));
        const Cure* training = trainingOf(*record.recipe);
        if (training && fs::equivalent(fs::path(training->file).parent_path(), folder, code))
            documents.trained = training->file;
        if (fs::exists(folder / kBackendFile, code)) {
            QS_TRY(documents.backend, readTextFile((folder / kBackendFile).string()));
        }
    }
    if (label.name.empty() && record.recipe)
        label.name = takenTrial(record.recipe->cures);
    if (label.name.empty())
        label.name = record.label.name;
    if (label.created.empty())
        label.created = record.label.created;
    label.source = record.label.source;
    return keepResult(runsFolder, result, documents, std::move(label));
}

std::vector<RunEntry> listRuns(const std::string& runsFolder)
{
    std::vector<RunEntry> runs;
    std::error_code code;
    for (fs::directory_iterator entry(runsFolder, code), end; !code && entry != end;
         entry.increment(code)) {
        std::error_code unknown;
        const std::string name = entry->path().filename().string();
        if (name.starts_with('.') || !entry->is_directory(unknown))
            continue;
        auto run = readKept(entry->path().string());
        if (!run) {
            RunEntry damaged;
            damaged.folder = entry->path().string();
            const auto label = readRunLabel(damaged.folder);
            damaged.label.name = label ? label->name : name;
            damaged.problem = run.error().line();
            runs.push_back(std::move(damaged));
            continue;
        }
        runs.push_back(std::move(*run));
    }
    std::sort(runs.begin(), runs.end(), [](const RunEntry& a, const RunEntry& b) {
        return std::tie(b.label.created, a.folder) < std::tie(a.label.created, b.folder);
    });
    return runs;
}

Result<RunEntry> findRun(const std::string& runsFolder, const std::string& name)
{
    const std::vector<RunEntry> runs = listRuns(runsFolder);
    for (const bool byFolder : {false, true})
        for (const RunEntry& run : runs)
            if ((byFolder ? fs::path(run.folder).filename().string() : run.label.name) == name)
                return run;
    return fail(
        makeError(ErrorCode::NotFound, "there is no run " + inQuotes(name))
            .inFile(runsFolder)
            .withHint(runs.empty() ? "no run was kept yet" : suggestName(name, namesOf(runs))));
}

Result<void> renameRun(const std::string& runsFolder, const RunEntry& run,
                       const std::string& wanted)
{
    QS_CHECK(checkInside(runsFolder, run));
    const std::string name = tidyName(wanted);
    if (name.empty())
        return fail(ErrorCode::BadInput, "a run needs a name");
    std::vector<RunEntry> others = listRuns(runsFolder);
    std::erase_if(others, [&](const RunEntry& other) { return other.folder == run.folder; });
    if (isTaken(others, name))
        return fail(makeError(ErrorCode::BadInput, "another run is called " + inQuotes(name))
                        .inFile(runsFolder));
    QS_CHECK(changeLabel(run, [&](Json& json) {
        json["name"] = name;
        json["named"] = true;
    }));
    std::error_code code; // the folder's name is only informative
    fs::rename(run.folder, fs::path(runsFolder) / folderName(name), code);
    return {};
}

Result<void> noteRun(const RunEntry& run, const std::string& note)
{
    return changeLabel(run, [&](Json& json) { json["note"] = note; });
}

Result<void> addEvaluation(const RunEntry& run, const Evaluation& evaluation)
{
    QS_TRY(const ResultDocument kept, ResultDocument::read(run.folder));
    Json result = kept.json();
    result["evaluation"] = evaluationJson(evaluation);
    QS_TRY(const std::string text, jsonText(result, {2, true}, {}));
    QS_CHECK(writeFileAtomically(kept.path(), text + "\n"));
    return changeLabel(run,
                       [&](Json& json) { json["result"]["evaluation"] = result["evaluation"]; });
}

Result<void> removeRun(const std::string& runsFolder, const RunEntry& run)
{
    QS_CHECK(checkInside(runsFolder, run));
    QS_TRY(const ResultFolder hidden, ResultFolder::create(runsFolder));
    std::error_code code;
    fs::rename(run.folder, fs::path(hidden.staging()) / "removed", code);
    if (code)
        return fail(
            makeError(ErrorCode::Io, "cannot be removed: " + code.message()).inFile(run.folder));
    syncFolder(runsFolder);
    return {};
}

Result<void> trimRuns(const std::string& runsFolder, std::size_t most)
{
    std::size_t unnamed = 0;
    for (const RunEntry& run : listRuns(runsFolder))
        if (run.problem.empty() && !run.label.isNamed && run.label.note.empty() && ++unnamed > most)
            QS_CHECK(removeRun(runsFolder, run));
    return {};
}

Result<void> copyRuns(const std::string& from, const std::string& to)
{
    const std::vector<RunEntry> there = listRuns(to);
    for (const RunEntry& run : listRuns(from)) {
        const bool known = std::any_of(there.begin(), there.end(), [&](const RunEntry& other) {
            return other.label.name == run.label.name && other.label.created == run.label.created;
        });
        if (known || !run.problem.empty())
            continue;
        QS_CHECK(keepRunFrom(to, run.folder, run.label));
    }
    return {};
}

} // namespace qs
