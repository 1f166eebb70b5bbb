// SPDX-License-Identifier: Apache-2.0
#include "engine/base/json/json_reader.h"
#include "engine/base/sha256.h"
#include "engine/result/error_json.h"
#include "engine/runs/run_record.h"
#include "engine/runs/run_store.h"

#include <filesystem>
#include <sys/stat.h>

namespace qs {

namespace fs = std::filesystem;

namespace {

std::string ruleText(const Json& node)
{
    const Json* rule = memberOf(node, "rule");
    if (!rule)
        return {};
    std::string text = rule->at("kind").get<std::string>();
    if (const std::string key = rule->value("key", ""); !key.empty())
        text += ' ' + key;
    return text;
}

RunNode nodeOf(const Json& json, const std::string& file)
{
    RunNode node;
    node.file = file;
    node.name = json.at("name").get<std::string>();
    node.op = json.at("op").get<std::string>();
    node.module = json.at("module").get<std::string>();
    node.callIndex = json.value("call_index", 0);
    node.moduleClass = json.value("module_class", "");
    if (const Json* verdict = memberOf(json, "verdict")) {
        node.verdict = verdict->get<std::string>();
        const Json* qconfig = memberOf(json, "qconfig");
        node.qconfig = qconfig ? qconfig->get<std::string>() : "float";
        node.rule = ruleText(json);
    }
    if (const Json* output = memberOf(json, "output"))
        node.dtype = fieldText(*output, "dtype");
    node.errors = errorsAt(json);
    return node;
}

/// Adds the nodes that a foreign file's document lists as without counterpart.
void addUnmatched(RunRecord& run, const Json& document)
{
    const Json* unmatched = memberOf(document, "unmatched");
    if (!unmatched)
        return;
    for (const bool ofModel : {true, false})
        for (const Json& name : unmatched->at(ofModel ? "model" : "compared")) {
            RunNode node;
            node.file = ofModel ? run.modelSha256 : run.foreignSha256;
            node.name = name.get<std::string>();
            node.isMissing = ofModel;
            run.nodes.push_back(std::move(node));
        }
}

RunRecord recordOf(const Json& document)
{
    RunRecord run;
    const Json& model = document.at("model");
    run.modelPath = model.at("path").get<std::string>();
    run.modelSha256 = model.at("sha256").get<std::string>();
    if (const Json* compared = memberOf(document, "compared")) {
        run.foreignPath = compared->at("path").get<std::string>();
        run.foreignSha256 = compared->at("sha256").get<std::string>();
    }
    run.device = document.value("device", "");
    run.recipeSha256 = document.value("recipe_sha256", "");
    if (const Json* data = memberOf(document, "data"))
        run.data = data->value("calibration", "");
    run.headline = resultFigures(document);
    if (run.headline.againstOriginal)
        run.remarks.emplace_back("measured against the original model: edits and quantization "
                                 "together");
    for (const Json& node : document.at("nodes"))
        run.nodes.push_back(nodeOf(node, run.modelSha256));
    addUnmatched(run, document);
    return run;
}

std::string modified(const std::string& path)
{
    struct stat status
    {
    };
    return stat(path.c_str(), &status) == 0 ? utcText(status.st_mtime) : std::string();
}

/// Adds the recipe next to a result; checks whether it is still the result's recipe.
Result<void> addRecipe(RunRecord& run, const fs::path& path)
{
    std::error_code code;
    if (!fs::exists(path, code)) {
        run.remarks.push_back("there is no recipe beside it: " + path.string());
        return {};
    }
    QS_TRY(run.recipe, readRecipe(path.string()));
    QS_TRY(const std::string now, fileSha256(path.string()));
    if (!run.recipeSha256.empty() && now != run.recipeSha256)
        run.remarks.push_back(path.string() + " was changed since the result was made");
    return {};
}

} // namespace

Result<RunRecord> runFromDocument(const ResultDocument& document)
{
    QS_TRY(RunRecord run, document.made<RunRecord>([](const Json& json) {
        return Result<RunRecord>(recordOf(json));
    }));
    run.label.name = fs::path(document.path()).stem().string();
    run.label.source = document.path();
    return run;
}

Result<RunRecord> readRun(const std::string& path)
{
    QS_TRY(const ResultDocument document, ResultDocument::read(path));
    return readRun(document);
}

Result<RunRecord> readRun(const ResultDocument& document)
{
    std::error_code code;
    QS_TRY(RunRecord run, runFromDocument(document));
    const fs::path file(document.path());
    if (file.filename() == "result.json") {
        fs::path folder = fs::absolute(file, code).lexically_normal().parent_path();
        run.label.name = folder.filename().string();
        run.label.source = folder.string();
    }
    run.label.created = modified(file.string());
    const bool isKept = fs::exists(file.parent_path() / kRunFile, code);
    if (isKept) {
        QS_TRY(run.label, readRunLabel(file.parent_path().string()));
    }
    if (file.filename() == "result.json" && !run.isForeign()) {
        QS_CHECK(addRecipe(run, file.parent_path() / "recipe.json"));
    }
    return run;
}

} // namespace qs
