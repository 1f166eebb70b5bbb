// SPDX-License-Identifier: Apache-2.0
#include "engine/base/files/read_file.h"
#include "engine/base/sha256.h"
#include "engine/configure/json/json_reader.h"
#include "engine/runs/run_record.h"
#include "engine/runs/run_store.h"

#include <filesystem>
#include <functional>
#include <limits>
#include <sys/stat.h>

namespace qs {

namespace fs = std::filesystem;

namespace {

Error notRun(const std::string& path)
{
    return makeError(ErrorCode::BadInput, "not a result of quantscope")
        .inFile(path)
        .withHint("give a result folder, a project, or what 'quantscope compare --json' printed");
}

const Json* member(const Json& owner, const char* key)
{
    const auto it = owner.is_object() ? owner.find(key) : owner.end();
    return it == owner.end() || it->is_null() ? nullptr : &*it;
}

/// Documents write null for a number that is not finite.
double orInfinity(const Json& owner, const char* key)
{
    const Json& value = owner.at(key);
    return value.is_null() ? std::numeric_limits<double>::infinity() : value.get<double>();
}

std::optional<ErrorMetrics> metricsAt(const Json& owner, const char* key)
{
    const Json* json = member(owner, key);
    if (!json)
        return std::nullopt;
    ErrorMetrics out;
    if (const Json* sqnr = member(*json, "sqnr_db"))
        out.sqnrDb = sqnr->get<double>();
    out.cosine = orInfinity(*json, "cosine");
    out.mse = orInfinity(*json, "mse");
    out.maxAbs = orInfinity(*json, "max_abs");
    return out;
}

template<class T>
std::optional<T> valueAt(const Json* owner, const char* key)
{
    const Json* value = owner ? member(*owner, key) : nullptr;
    return value ? std::optional(value->get<T>()) : std::nullopt;
}

RunHeadline headlineOf(const Json& json)
{
    RunHeadline out;
    for (const Json& output : json.at("outputs"))
        out.outputs.push_back({output.at("name").get<std::string>(),
                               metricsAt(output, "cumulative"), metricsAt(output, "lowered")});
    const Json* labels = member(json, "labels");
    out.floatTop1 = valueAt<double>(labels, "float_top1");
    out.int8Top1 = valueAt<double>(labels, "int8_top1");
    out.agreement = valueAt<double>(member(json, "agreement"), "top1");
    const Json* coverage = member(json, "coverage");
    out.quantizedOps = valueAt<int>(coverage, "quantized");
    out.eligibleOps = valueAt<int>(coverage, "eligible");
    out.totalOps = valueAt<int>(coverage, "total");
    const Json* weights = member(json, "weights");
    out.floatBytes = valueAt<std::int64_t>(weights, "float_bytes");
    out.int8Bytes = valueAt<std::int64_t>(weights, "int8_bytes");
    const auto samples = valueAt<std::int64_t>(member(json, "data"), "compared_samples");
    out.samples = samples.value_or(valueAt<std::int64_t>(&json, "samples").value_or(0));
    return out;
}

std::string ruleText(const Json& node)
{
    const Json* rule = member(node, "rule");
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
    if (const auto verdict = valueAt<std::string>(&json, "verdict")) {
        node.verdict = *verdict;
        node.qconfig = valueAt<std::string>(&json, "qconfig").value_or("float");
        node.rule = ruleText(json);
    }
    node.dtype = valueAt<std::string>(member(json, "output"), "dtype").value_or("");
    if (const Json* error = member(json, "error")) {
        for (const RunTerm term : kRunTerms)
            node.errors[std::size_t(term)]
                = metricsAt(*error, std::string(runTermName(term)).c_str());
        node.kl = valueAt<double>(member(*error, "cumulative"), "kl");
    }
    return node;
}

/// What a foreign file's document lists as without a counterpart.
void addUnmatched(RunRecord& run, const Json& document)
{
    const Json* unmatched = member(document, "unmatched");
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
    if (const Json* compared = member(document, "compared")) {
        run.foreignPath = compared->at("path").get<std::string>();
        run.foreignSha256 = compared->at("sha256").get<std::string>();
    }
    run.device = document.value("device", "");
    run.recipeSha256 = document.value("recipe_sha256", "");
    if (const Json* data = member(document, "data")) {
        run.data = data->value("calibration", "");
        run.compared = data->value("comparison", "");
        if (run.compared.empty())
            run.compared = run.data;
    }
    run.againstOriginal = document.value("against", "") == "original";
    if (run.againstOriginal)
        run.remarks.emplace_back("measured against the original model: edits and quantization "
                                 "together");
    if (const Json* unpaired = member(document, "unpaired"))
        run.unpaired = unpaired->get<std::vector<std::string>>();
    run.headline = headlineOf(document);
    for (const Json& node : document.at("nodes"))
        run.nodes.push_back(nodeOf(node, run.modelSha256));
    addUnmatched(run, document);
    return run;
}

/// Parses the text and makes something of it; one error for all that it is not.
template<class T>
Result<T> madeOf(const std::string& text, const std::string& path,
                 const std::function<Result<T>(const Json&)>& make)
{
    const Json json
        = isDeepJson(text) ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, false);
    if (json.is_discarded() || !json.is_object())
        return fail(notRun(path));
    try {
        return make(json);
    } catch (const Json::exception&) { // a key is missing or of another type
        return fail(notRun(path));
    }
}

std::string modified(const std::string& path)
{
    struct stat status
    {
    };
    return stat(path.c_str(), &status) == 0 ? utcText(status.st_mtime) : std::string();
}

/// The recipe beside a result, and whether it is still the one that the result was made with.
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

Result<RunHeadline> headlineFromDocument(const std::string& text, const std::string& path)
{
    return madeOf<RunHeadline>(text, path, headlineOf);
}

Result<RunRecord> runFromDocument(const std::string& text, const std::string& path)
{
    QS_TRY(RunRecord run, madeOf<RunRecord>(text, path, [&](const Json& json) -> Result<RunRecord> {
               if (json.value("format", "") != "quantscope.result" || json.value("version", 0) != 1)
                   return fail(notRun(path));
               return recordOf(json);
           }));
    run.label.name = fs::path(path).stem().string();
    run.label.source = path;
    return run;
}

Result<RunRecord> readRun(const std::string& given)
{
    std::error_code code;
    const fs::path path(given);
    const bool isFolder = fs::is_directory(path, code);
    const fs::path file = isFolder ? path / "result.json" : path;
    auto text = readTextFile(file.string());
    if (!text && text.error().code == ErrorCode::NotFound)
        return fail(makeError(ErrorCode::NotFound,
                              isFolder ? "there is no result in it" : "there is no such result")
                        .inFile(given)
                        .withHint("make one with 'quantscope quantize'"));
    QS_CHECK(text);
    QS_TRY(RunRecord run, runFromDocument(*text, file.string()));
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
