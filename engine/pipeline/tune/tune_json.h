// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/pipeline/tune/tune.h"

#include <string>

namespace qs {

/// A search as one document, two-space indent: `{format, version, of, goal, keep_int8,
/// search_samples, guard_samples, blame[], causes[], trials[], times[], earlier[], front[], best,
/// cures[], forwards, notes[], remaining[], barred[], needed_int8, reached, stopped}`. What
/// --keep-int8 bars: `{cure, gain_db, int8_macs}`. A trial: `{key, stage, predicted_db, search,
/// guard, int8_macs, ms, forwards, reached, cures, qconfigs, needless_outputs}`, figures as
/// `{sqnr_db, cosine, top1_drop, metric, by_output, noise_error}`, null where they are not finite;
/// the front holds the trials that no other beats in both SQNR and int8 multiplications, or time
/// where that was measured (`times`: `{node, name, float_ms, int8_ms}`). It is also the state that
/// a search goes on from: `earlier` holds key and figures of the trials in `known` that this search
/// has not come to.
std::string tuneJson(const TuneRequest& request, const TuneState& state,
                     const KnownTrials& known = {});

/// What an interrupted search measured.
struct EarlierSearch
{
    KnownTrials trials;
    std::vector<UnitTime> times; ///< empty where it measured none
};

/// What an earlier search of the same request measured. Errors: no such document, or of another
/// version; one of another model, recipe, data, seed, metric or number of samples, with which.
Result<EarlierSearch> readSearch(const std::string& json, const TuneRequest& request);

} // namespace qs
