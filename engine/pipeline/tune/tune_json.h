// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/pipeline/tune/tune_state.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace qs {

/// A search as one document, two-space indent: `{format, version, of, goal, keep_int8,
/// search_samples, guard_samples, blame[], causes[], predicted_front[], trials[], times[],
/// earlier[], front[], best, cures[], forwards, notes[], remaining[], barred[], needed_int8,
/// reached, stopped}`. An entry of `barred`, a cure that --keep-int8 forbids: `{cure, gain_db,
/// int8_macs}`. A trial: `{key, stage, base, predicted_db, search, guard, int8_macs, ms, forwards,
/// reached, cures, qconfigs, needless_outputs}` with figures `{sqnr_db, cosine, top1_drop, metric,
/// by_output, noise_error}`, null if not finite. `front` lists the trials that no other trial beats
/// in both SQNR and int8 multiplications (or time, if it was measured; `times`: `{node, name,
/// float_ms, int8_ms}`). A search can resume from the document: `earlier` has key and figures of
/// the trials in `known` that this search has not made yet. Paths of trained models are relative to
/// the folder of `TuneRequest::trainedFile`.
std::string tuneJson(const TuneRequest& request, const TuneState& state,
                     const KnownTrials& known = {});

/// What a trial's figures depend on besides file and recipe.
struct TrialData
{
    Key data; ///< `TuneRequest::data`
    std::int64_t samples = 0;
    std::uint64_t seed = 0;
};
/// Key of a trial with the decisions of `recipe` (`Trial::key`).
Key trialKey(const Graph& file, const Recipe& recipe, const TrialData& data);

/// Reads the document of a search. Fails if it is not one of this version.
Result<nlohmann::ordered_json> readSearchDocument(const std::string& path);

/// The search as cures name it: "tune 1f3a". The same model, recipe, data, samples, seed and metric
/// give the same name.
std::string searchName(const TuneRequest& request);

/// Measurements of an interrupted search.
struct EarlierSearch
{
    KnownTrials trials;
    std::vector<UnitTime> times; ///< empty if not measured
};

/// Reads the measurements of an earlier search for the same request. Fails if the text is not such
/// a document or has another version, or if its model, recipe, data, seed, metric or number of
/// samples differs (names the difference).
Result<EarlierSearch> readSearch(const std::string& json, const TuneRequest& request);

} // namespace qs
