// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/tune/tune_json.h"

#include "engine/base/decibels.h"
#include "engine/base/files/read_file.h"
#include "engine/blame/why_json.h"
#include "engine/configure/json/cure_json.h"
#include "engine/configure/qconfigs/observer_json.h"
#include "engine/configure/recipe.h"
#include "engine/export/documents/node_json.h"
#include "engine/pipeline/keys/content_keys.h"
#include "engine/pipeline/keys/decision_keys.h"

#include <algorithm>
#include <limits>

namespace qs {

namespace {

constexpr const char* kTuneFormat = "quantscope.tune";
constexpr int kTuneVersion = 1;
constexpr std::uint64_t kMostOfSearch = 256 << 20; ///< bytes of a document

Json figuresJson(const TrialFigures& figures)
{
    Json outputs = Json::array();
    for (const double noise : figures.byOutput)
        outputs.push_back(noise < 0 ? Json(nullptr) : numberJson(noise));
    return {{"sqnr_db", numberJson(figures.db)},
            {"cosine", numberJson(figures.cosine)},
            {"top1_drop", numberJson(figures.top1Drop)},
            {"metric", numberJson(figures.metric)},
            {"by_output", std::move(outputs)},
            {"noise_error", numberJson(figures.noiseError)}};
}

std::optional<double> readNumber(const Json& json)
{
    return json.is_number() ? std::optional(json.get<double>()) : std::nullopt;
}

/// A number of a document, or `worst` for null: documents have null for numbers that are not
/// finite.
double numberOr(const Json& json, double worst)
{
    return json.is_null() ? worst : json.get<double>();
}

TrialFigures readFigures(const Json& json)
{
    TrialFigures figures;
    figures.db = numberOr(json.at("sqnr_db"), -kExactDb);
    figures.cosine = numberOr(json.at("cosine"), -1);
    figures.top1Drop = readNumber(json.at("top1_drop"));
    figures.metric = readNumber(json.at("metric"));
    for (const Json& noise : json.at("by_output"))
        figures.byOutput.push_back(readNumber(noise).value_or(-1));
    figures.noiseError = numberOr(json.at("noise_error"), 0);
    return figures;
}

bool isIn(double value, double least, double most)
{
    return value >= least && value <= most;
}

/// Whether a search can have made these figures.
bool isSound(const TrialFigures& figures)
{
    return isIn(figures.db, -kExactDb, kExactDb) && isIn(figures.cosine, -1, 1)
        && figures.noiseError >= 0;
}

/// Cures with paths relative to the search's files.
Json curesBeside(std::vector<Cure> cures, const TuneRequest& request)
{
    Recipe holder;
    holder.cures = std::move(cures);
    return curesToJson(request.trainedFile.empty()
                           ? holder.cures
                           : writtenBeside(std::move(holder), request.trainedFile).cures);
}

/// The training of a written trial, whose model is this search's own file; empty if it has none.
std::vector<Cure> readTraining(const Json& trial, const TuneRequest& request)
{
    for (const Json& cure : trial.value("cures", Json::array()))
        if (cure.at("cure") == cureKindName(CureKind::Train)) {
            Cure made;
            made.kind = CureKind::Train;
            made.file = request.trainedFile;
            made.sha256 = cure.at("sha256").get<std::string>();
            return {std::move(made)};
        }
    return {};
}

Trial readTrial(const Json& json, const TuneRequest& request)
{
    Trial trial;
    trial.cures = readTraining(json, request);
    trial.key = json.at("key").get<std::string>();
    trial.search = readFigures(json.at("search"));
    trial.guard = readFigures(json.at("guard"));
    // A search with a metric measures it in each trial: null means it was not finite.
    if (!request.metricText.empty() && !trial.guard.metric)
        trial.guard.metric = -std::numeric_limits<double>::infinity();
    trial.int8Macs = json.at("int8_macs").get<double>();
    trial.ms = readNumber(json.value("ms", Json()));
    return trial;
}

/// Reads a time; empty if it is not valid or the file's node has another name.
std::optional<UnitTime> readTime(const Json& json, const Graph& file)
{
    const UnitTime time {NodeId(json.at("node").get<std::uint32_t>()),
                         json.at("float_ms").get<double>(), json.at("int8_ms").get<double>()};
    const Node* node = time.node ? file.tryGet(time.node) : nullptr;
    const bool isSame = json.at("name") == (node ? Json(node->name) : Json(nullptr));
    return isSame && time.floatMs >= 0 && time.int8Ms >= 0 ? std::optional(time) : std::nullopt;
}

Json trialJson(const Trial& trial, const TuneRequest& request)
{
    Json qconfigs = Json::object();
    for (const auto& [name, qconfig] : trial.qconfigs)
        qconfigs[name] = qconfigToJson(qconfig);
    return {{"key", trial.key},
            {"stage", trial.stage},
            {"base", trial.base ? Json(*trial.base) : Json(nullptr)},
            {"predicted_db", numberJson(trial.predictedDb)},
            {"search", figuresJson(trial.search)},
            {"guard", figuresJson(trial.guard)},
            {"int8_macs", numberJson(trial.int8Macs)},
            {"ms", numberJson(trial.ms)},
            {"forwards", trial.forwards},
            {"reached", trial.reached},
            {"cures", curesBeside(trial.cures, request)},
            {"qconfigs", std::move(qconfigs)},
            {"needless_outputs", trial.floatNeedless ? Json("float") : Json(nullptr)}};
}

/// Known trials that the search has not made yet.
Json earlierJson(const KnownTrials& known, const std::vector<Trial>& trials,
                 const TuneRequest& request)
{
    Json earlier = Json::array();
    for (const auto& [key, trial] : known)
        if (std::none_of(trials.begin(), trials.end(),
                         [&key = key](const Trial& made) { return made.key == key; }))
            earlier.push_back({{"key", key},
                               {"search", figuresJson(trial.search)},
                               {"guard", figuresJson(trial.guard)},
                               {"int8_macs", numberJson(trial.int8Macs)},
                               {"ms", numberJson(trial.ms)},
                               {"cures", curesBeside(trial.cures, request)}});
    return earlier;
}

Json timesJson(const std::vector<UnitTime>& times, const Graph& file)
{
    Json list = Json::array();
    for (const UnitTime& time : times) {
        const Node* node = time.node ? file.tryGet(time.node) : nullptr;
        list.push_back({{"node", time.node.value()},
                        {"name", node ? Json(node->name) : Json(nullptr)},
                        {"float_ms", numberJson(time.floatMs)},
                        {"int8_ms", numberJson(time.int8Ms)}});
    }
    return list;
}

/// A property that must be equal in a search and in the earlier search that it resumes.
struct Sameness
{
    const char* name;
    const char* other; ///< message if it differs
    std::string value;
};
std::vector<Sameness> sameness(const TuneRequest& request)
{
    return {{"model", "another model", request.file->info().sha256},
            {"recipe", "another recipe",
             KeyBuilder("tuned recipe")
                 .add(planningKey(request.recipe))
                 .add(loweringKey(request.recipe))
                 .add(cutKey(request.recipe.calibration))
                 .key()},
            {"data", "other data", request.data},
            {"samples", "another number of samples", std::to_string(request.samples)},
            {"seed", "another seed", std::to_string(request.seed)},
            {"metric", "another metric",
             request.metricText.empty() ? "" : KeyBuilder("metric").add(request.metricText).key()}};
}

/// Parses a document of this version.
Result<Json> parsedSearch(const std::string& text)
{
    Json json
        = isDeepJson(text) ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, false);
    if (!json.is_object() || json.value("format", Json()) != kTuneFormat)
        return fail(ErrorCode::BadInput, "is not the state of a search");
    if (json.value("version", Json()) != kTuneVersion)
        return fail(ErrorCode::BadInput, "is of another version of this program");
    return json;
}

} // namespace

std::string tuneJson(const TuneRequest& request, const TuneState& state, const KnownTrials& known)
{
    Json same = Json::object();
    for (const Sameness& one : sameness(request))
        same[one.name] = one.value;
    Json trials = Json::array();
    for (const Trial& trial : state.trials)
        trials.push_back(trialJson(trial, request));
    Json causes = Json::array();
    for (const Cause& cause : state.causes)
        causes.push_back({{"cause", causeName(cause.code)},
                          {"site", cause.site},
                          {"share", numberJson(cause.share)},
                          {"evidence", cause.evidence}});
    Json blame = Json::array();
    if (state.blame)
        for (const SiteBlame& site : state.blame->sites) {
            const Node* node = request.file->tryGet(site.site.node);
            blame.push_back({{"node", node ? Json(node->name) : Json(nullptr)},
                             {"kind", siteKindName(site.site.kind)},
                             {"readers",
                              site.site.kind == BlameSite::Kind::Value
                                  ? Json(readerClassName(site.site.readers))
                                  : Json(nullptr)},
                             {"share", numberJson(site.expected)}});
        }
    Json remaining = Json::array();
    for (const RemainingNoise& one : state.remaining)
        remaining.push_back({{"node", one.node},
                             {"cause", causeName(one.cause)},
                             {"share", numberJson(one.share)}});
    Json barred = Json::array();
    for (const BarredCure& one : state.barred)
        barred.push_back({{"cure", curesToJson({one.cure}).at(0)},
                          {"gain_db", numberJson(one.gainDb)},
                          {"int8_macs", numberJson(one.int8Macs)}});
    const Trial* best = state.trials.empty() ? nullptr : &state.trials[state.best];
    const Json json {{"format", kTuneFormat},
                     {"version", kTuneVersion},
                     {"of", std::move(same)},
                     {"goal", goalText(request.goal)},
                     {"keep_int8", numberJson(request.keepInt8)},
                     {"search_samples", state.searchSamples},
                     {"guard_samples", state.guardSamples},
                     {"blame", std::move(blame)},
                     {"causes", std::move(causes)},
                     {"predicted_front", frontJson(state.front)},
                     {"trials", std::move(trials)},
                     {"times", timesJson(state.times, *request.file)},
                     {"earlier", earlierJson(known, state.trials, request)},
                     {"front", tuneFront(state.trials)},
                     {"best", best ? Json(state.best) : Json(nullptr)},
                     {"cures", best ? curesBeside(best->cures, request) : Json::array()},
                     {"forwards", state.forwards},
                     {"notes", state.notes},
                     {"remaining", std::move(remaining)},
                     {"barred", std::move(barred)},
                     {"needed_int8", numberJson(state.neededInt8)},
                     {"reached", state.isReached()},
                     {"stopped", state.stopped.empty() ? Json(nullptr) : Json(state.stopped)}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Key trialKey(const Graph& file, const Recipe& recipe, const TrialData& data)
{
    return KeyBuilder("trial")
        .add(modelKey(file))
        .add(planningKey(recipe))
        .add(loweringKey(recipe))
        .add(cutKey(recipe.calibration))
        .add(data.data)
        .add(data.samples)
        .add(std::int64_t(data.seed))
        .key();
}

Result<Json> readSearchDocument(const std::string& path)
{
    QS_TRY(const std::string text, readWholeFile(path, kMostOfSearch));
    return parsedSearch(text);
}

std::string searchName(const TuneRequest& request)
{
    KeyBuilder key("search");
    for (const Sameness& one : sameness(request))
        key.add(one.value);
    return "tune " + key.key().substr(0, 4);
}

Result<EarlierSearch> readSearch(const std::string& text, const TuneRequest& request)
{
    const auto bad = [](const std::string& what) {
        return fail(makeError(ErrorCode::BadInput, what).withHint("search anew without --resume"));
    };
    const auto parsed = parsedSearch(text);
    if (!parsed)
        return bad(parsed.error().message);
    const Json& json = *parsed;
    try {
        for (const Sameness& one : sameness(request))
            if (json.at("of").at(one.name) != one.value)
                return bad(std::string("is of a search with ") + one.other);
        EarlierSearch earlier;
        for (const char* list : {"earlier", "trials"})
            for (const Json& one : json.at(list)) {
                Trial trial = readTrial(one, request);
                if (!isSound(trial.search) || !isSound(trial.guard) || !isIn(trial.int8Macs, 0, 1))
                    return bad("is damaged");
                earlier.trials[trial.key] = std::move(trial);
            }
        for (const Json& one : json.value("times", Json::array())) {
            const auto time = readTime(one, *request.file);
            if (!time)
                return bad("is damaged");
            earlier.times.push_back(*time);
        }
        return earlier;
    } catch (const Json::exception&) {
        return bad("is damaged");
    }
}

} // namespace qs
