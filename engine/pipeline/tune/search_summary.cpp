// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/tune/search_summary.h"

#include "engine/blame/blame.h"
#include "engine/blame/causes/cause.h"
#include "engine/configure/edit_text.h"
#include "engine/configure/json/cure_json.h"
#include "engine/graph/text/node_titles.h"
#include "engine/pipeline/tune/tune_data.h"
#include "engine/pipeline/tune/tune_json.h"

#include <algorithm>
#include <filesystem>

namespace qs {

namespace {

using Json = ResultDocument::Json;

/// Cures of a trial that its base does not have, in words.
Json addedCures(const Json& trial, const Json& base)
{
    Json texts = Json::array();
    const Json& before = base.at("cures");
    for (const Json& cure : trial.at("cures")) {
        if (std::find(before.begin(), before.end(), cure) != before.end())
            continue;
        const Json one = Json::array({cure});
        if (const auto read = readCures({one, "", "cures"}))
            texts.push_back(cureText(read->front()));
    }
    return texts;
}

/// The steps from the first trial to this one.
Json stepsTo(std::size_t last, const Json& trials)
{
    Json steps = Json::array();
    while (trials.at(last).at("base").is_number_unsigned()) {
        const std::size_t from = trials.at(last).at("base").get<std::size_t>();
        if (from >= last)
            return Json::array();
        const Json &trial = trials.at(last), &base = trials.at(from);
        steps.push_back({{"trial", last + 1},
                         {"stage", trial.at("stage")},
                         {"before_db", base.at("guard").at("sqnr_db")},
                         {"after_db", trial.at("guard").at("sqnr_db")},
                         {"cures", addedCures(trial, base)},
                         {"needless_outputs",
                          trial.at("needless_outputs") == base.at("needless_outputs")
                              ? Json(nullptr)
                              : trial.at("needless_outputs")}});
        last = from;
    }
    std::reverse(steps.begin(), steps.end());
    return steps;
}

Json causesIn(const Json& search, const Graph& file)
{
    const NodeTitles titles(file);
    Json causes = Json::array();
    for (const Json& cause : search.at("causes")) {
        const Json& site = search.at("blame").at(cause.at("site").get<std::size_t>());
        const Json& name = site.at("node");
        const Node* node = name.is_string() ? file.tryFind(name.get<std::string>()) : nullptr;
        const auto code = causeFromName(cause.at("cause").get<std::string>());
        if (!node || !code)
            continue;
        const bool isOfWeight = site.at("kind") == siteKindName(BlameSite::Kind::Weight);
        causes.push_back({{"title", titles.of(*node) + (isOfWeight ? ", weight" : "")},
                          {"words", causeWords(*code)},
                          {"share", cause.at("share")},
                          {"evidence", cause.at("evidence")}});
    }
    return causes;
}

/// Index of the trial with exactly these decisions; the number of trials without one.
std::size_t trialOf(const Json& search, const Graph& file, const Recipe& recipe)
{
    const Json& of = search.at("of");
    const Key key = trialKey(file, recipe,
                             {of.at("data").get<std::string>(),
                              std::stoll(of.at("samples").get<std::string>()),
                              std::stoull(of.at("seed").get<std::string>())});
    const Json& trials = search.at("trials");
    return std::size_t(std::find_if(trials.begin(), trials.end(),
                                    [&](const Json& trial) { return trial.at("key") == key; })
                       - trials.begin());
}

} // namespace

std::string searchPath(const std::string& recipe)
{
    const std::filesystem::path path(recipe);
    return (path.parent_path() / path.stem()).string() + ".tune.json";
}

std::shared_ptr<const Json> searchIn(const ResultDocument& document)
{
    const Json* search = memberOf(document.json(), "search");
    return search ? std::make_shared<const Json>(*search) : nullptr;
}

std::shared_ptr<const Json> searchSummary(const std::string& recipePath, const Graph& file,
                                          const Recipe& recipe)
{
    std::error_code code;
    const std::string path = searchPath(recipePath);
    if (recipePath.empty() || !std::filesystem::is_regular_file(path, code))
        return nullptr;
    const auto read = readSearchDocument(path);
    if (!read)
        return nullptr;
    try {
        const Json& search = *read;
        const Json& trials = search.at("trials");
        const std::size_t found = trialOf(search, file, recipe);
        if (found == trials.size())
            return nullptr;
        const Json& trial = trials.at(found);
        Json steps = stepsTo(found, trials);
        if (steps.empty())
            return nullptr;
        const auto guard = search.at("guard_samples").get<std::int64_t>();
        const auto all = guard + search.at("search_samples").get<std::int64_t>();
        return std::make_shared<const Json>(Json {{"trial", found + 1},
                                                  {"goal", search.at("goal")},
                                                  {"reached", trial.at("reached")},
                                                  {"samples", holdsAll(guard) ? all : guard},
                                                  {"is_guard", !holdsAll(guard)},
                                                  {"causes", causesIn(search, file)},
                                                  {"steps", std::move(steps)}});
    } catch (const std::exception&) { // a file that was changed by hand
        return nullptr;
    }
}

} // namespace qs
