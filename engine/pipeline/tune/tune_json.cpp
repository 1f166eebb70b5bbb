// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/tune/tune_json.h"

#include "engine/blame/why_json.h"
#include "engine/configure/json/cure_json.h"
#include "engine/configure/qconfigs/observer_json.h"
#include "engine/configure/recipe.h"
#include "engine/export/documents/node_json.h"
#include "engine/pipeline/keys/decision_keys.h"

namespace qs {

namespace {

constexpr const char* kTuneFormat = "quantscope.tune";

Json optionalJson(const std::optional<double>& number)
{
    return number ? numberJson(*number) : Json(nullptr);
}

Json figuresJson(const TrialFigures& figures)
{
    Json outputs = Json::array();
    for (const double noise : figures.byOutput)
        outputs.push_back(noise < 0 ? Json(nullptr) : numberJson(noise));
    return {{"sqnr_db", numberJson(figures.db)},
            {"cosine", numberJson(figures.cosine)},
            {"top1_drop", optionalJson(figures.top1Drop)},
            {"metric", optionalJson(figures.metric)},
            {"by_output", std::move(outputs)},
            {"noise_error", numberJson(figures.noiseError)}};
}

std::optional<double> readNumber(const Json& json)
{
    return json.is_number() ? std::optional(json.get<double>()) : std::nullopt;
}

TrialFigures readFigures(const Json& json)
{
    TrialFigures figures;
    figures.db = json.at("sqnr_db").get<double>();
    figures.cosine = json.at("cosine").get<double>();
    figures.top1Drop = readNumber(json.at("top1_drop"));
    figures.metric = readNumber(json.at("metric"));
    for (const Json& noise : json.at("by_output"))
        figures.byOutput.push_back(readNumber(noise).value_or(-1));
    figures.noiseError = json.at("noise_error").get<double>();
    return figures;
}

Json trialJson(const Trial& trial)
{
    Json qconfigs = Json::object();
    for (const auto& [name, qconfig] : trial.qconfigs)
        qconfigs[name] = qconfigToJson(qconfig);
    return {{"key", trial.key},
            {"stage", trial.stage},
            {"predicted_db", optionalJson(trial.predictedDb)},
            {"search", figuresJson(trial.search)},
            {"guard", figuresJson(trial.guard)},
            {"int8_macs", numberJson(trial.int8Macs)},
            {"forwards", trial.forwards},
            {"reached", trial.reached},
            {"cures", curesToJson(trial.cures)},
            {"qconfigs", std::move(qconfigs)},
            {"needless_outputs", trial.floatNeedless ? Json("float") : Json(nullptr)}};
}

/// Places of the trials that no other beats in both.
Json frontJson(const std::vector<Trial>& trials)
{
    Json front = Json::array();
    for (std::size_t i = 0; i < trials.size(); ++i) {
        bool beaten = false;
        for (const Trial& other : trials)
            beaten = beaten
                || (other.guard.db >= trials[i].guard.db && other.int8Macs >= trials[i].int8Macs
                    && (other.guard.db > trials[i].guard.db
                        || other.int8Macs > trials[i].int8Macs));
        if (!beaten)
            front.push_back(i);
    }
    return front;
}

/// What a search must have in common with the one that it goes on from: name and value.
std::vector<std::pair<std::string, std::string>> sameness(const TuneRequest& request)
{
    return {{"model", request.file->info().sha256},
            {"recipe", planningKey(request.recipe) + loweringKey(request.recipe)},
            {"data", request.settings.calibrationData + " " + request.settings.compared()},
            {"samples", std::to_string(request.samples)},
            {"seed", std::to_string(request.seed)},
            {"metric", request.metricText}};
}

} // namespace

std::string tuneJson(const TuneRequest& request, const TuneState& state)
{
    Json same = Json::object();
    for (const auto& [name, value] : sameness(request))
        same[name] = value;
    Json trials = Json::array();
    for (const Trial& trial : state.trials)
        trials.push_back(trialJson(trial));
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
                             {"readers", readerClassName(site.site.readers)},
                             {"share", numberJson(site.expected)}});
        }
    Json remaining = Json::array();
    for (const RemainingNoise& one : state.remaining)
        remaining.push_back({{"node", one.node},
                             {"cause", causeName(one.cause)},
                             {"share", numberJson(one.share)}});
    const Trial* best = state.trials.empty() ? nullptr : &state.trials[state.best];
    const Json json {{"format", kTuneFormat},
                     {"version", 1},
                     {"of", std::move(same)},
                     {"goal", goalText(request.goal)},
                     {"keep_int8", numberJson(request.keepInt8)},
                     {"search_samples", state.searchSamples},
                     {"guard_samples", state.guardSamples},
                     {"blame", std::move(blame)},
                     {"causes", std::move(causes)},
                     {"trials", std::move(trials)},
                     {"front", frontJson(state.trials)},
                     {"best", best ? Json(state.best) : Json(nullptr)},
                     {"cures", best ? curesToJson(best->cures) : Json::array()},
                     {"forwards", state.forwards},
                     {"notes", state.notes},
                     {"remaining", std::move(remaining)},
                     {"needed_int8", optionalJson(state.neededInt8)},
                     {"reached", state.isReached()},
                     {"stopped", state.stopped.empty() ? Json(nullptr) : Json(state.stopped)}};
    return json.dump(2) + "\n";
}

Result<KnownTrials> readTrials(const std::string& text, const TuneRequest& request)
{
    const Json json = Json::parse(text, nullptr, false);
    const auto bad = [](const std::string& what) {
        return fail(makeError(ErrorCode::BadInput, what).withHint("search anew without --resume"));
    };
    if (!json.is_object() || json.value("format", "") != kTuneFormat)
        return bad("is not the state of a search");
    try {
        for (const auto& [name, value] : sameness(request))
            if (json.at("of").at(name) != value)
                return bad("is of a search with another " + name);
        KnownTrials known;
        for (const Json& one : json.at("trials")) {
            Trial trial;
            trial.key = one.at("key").get<std::string>();
            trial.search = readFigures(one.at("search"));
            trial.guard = readFigures(one.at("guard"));
            trial.int8Macs = one.at("int8_macs").get<double>();
            known[trial.key] = std::move(trial);
        }
        return known;
    } catch (const Json::exception&) {
        return bad("is damaged");
    }
}

} // namespace qs
