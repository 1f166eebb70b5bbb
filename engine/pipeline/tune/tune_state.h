// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/blame/diagnosis.h"
#include "engine/configure/recipe.h"
#include "engine/pipeline/metric/user_metric.h"
#include "engine/pipeline/run_settings.h"
#include "engine/pipeline/tune/tune_goal.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace qs {

/// The kind of a cure with this name in recipes. Fails (Usage) for another name, with the nearest
/// one.
Result<CureKind> parseCureKind(const std::string& name);

/// A cure that a search must not take.
struct ForbiddenCure
{
    CureKind kind = CureKind::Float;
    std::string node; ///< name of a node in the model's file, or a text of `addressText`
};
/// Parses "float@add_6": a kind, '@' and a node. Checks only the kind. Errors: Usage.
Result<ForbiddenCure> parseForbidden(const std::string& text);

/// The cost that is minimized when operators are made float.
enum class TuneCost : std::uint8_t
{
    Macs, ///< multiplications in float
    Ms ///< milliseconds on this processor: extra time of operators in float
};

/// Time of one operator on this processor in the float model and in the lowered form, in
/// milliseconds per batch. Includes operators fused with it and the conversions at its inputs and
/// results.
struct UnitTime
{
    NodeId node; ///< `groupRoot`; none for all other nodes together
    double floatMs = 0, int8Ms = 0;
    friend bool operator==(const UnitTime&, const UnitTime&) = default;
};

struct TuneRequest
{
    GraphPtr file; ///< the model before its edits
    Recipe recipe; ///< to start from
    RunSettings settings;
    TuneGoal goal;
    double keepInt8 = 0.8; ///< least share of the multiplications with int8 inputs and weight
    std::int64_t samples = 64; ///< most samples of the compared data, search and guard together
    bool needsGuard = true; ///< refuse data that leave no sample for a guard
    std::uint64_t seed = 0;
    std::set<CureKind> allowed; ///< empty = all but Train
    std::string trainedFile; ///< where a training saves its model (.pt2); empty = it must not train
    TuneCost cost = TuneCost::Macs;
    std::vector<UnitTime> times; ///< of an interrupted search; empty = measure them
    std::vector<ForbiddenCure> forbidden;
    UserMetric metric; ///< for a goal of kind Metric; not finite: the worst
    std::string metricText; ///< identifies the metric in the state: a command and its files
    Key data; ///< key of the data's content: `dataContent`
    /// Folder for the numbers of Round and Bias, made on demand; empty: these are not tried.
    std::string numbers;
    std::optional<int> trials; ///< limit
    std::optional<std::int64_t> forwards; ///< approximate limit, checked between trials
    std::optional<double> seconds; ///< approximate limit, checked between trials
};

/// Errors of one form of the model on one part of the data.
struct TrialFigures
{
    double db = 0; ///< SQNR of the worst output
    double cosine = 1; ///< of the worst output
    std::optional<double> top1Drop; ///< percentage points, if an output holds class scores
    /// The user's metric over all compared data; -inf if it is not finite.
    std::optional<double> metric;
    std::vector<double> byOutput; ///< noise over signal; -1 for outputs that are not measured
    /// Relative standard error of the worst output's noise over samples.
    double noiseError = 0;
    friend bool operator==(const TrialFigures&, const TrialFigures&) = default;
};

/// One set of cures that was tried. A value.
struct Trial
{
    Key key; ///< of the decisions
    /// "start", "free", "split", "ranges", "round", "float", "less float", "train".
    std::string stage;
    std::optional<std::size_t> base; ///< index of the trial that it extends; none for the first
    std::vector<Cure> cures; ///< in addition to those of the recipe
    std::vector<std::pair<std::string, QConfig>> qconfigs; ///< named by `cures`
    bool floatNeedless = false; ///< `Recipe::floatNeedless`
    std::optional<double> predictedDb;
    TrialFigures search;
    TrialFigures guard; ///< decides about the goal; over all data if the guard is small
    double int8Macs = 1; ///< share of the multiplications
    /// With `TuneCost::Ms`: time of a batch on this processor, as the sum over operators.
    std::optional<double> ms;
    std::int64_t forwards = 0; ///< of the search up to and including this trial
    bool reached = false; ///< whether `guard` reaches the goal
    friend bool operator==(const Trial& a, const Trial& b) { return a.key == b.key; }
};

/// A site with remaining noise after a missed goal, and the cause of the noise.
struct RemainingNoise
{
    std::string node; ///< title of the value's producer
    CauseCode cause = CauseCode::Unexplained;
    double share = 0; ///< share of the remaining noise
};

/// A float cure that would help to reach a missed goal, but that `TuneRequest::keepInt8` forbids.
struct BarredCure
{
    Cure cure;
    double gainDb = 0; ///< predicted, if only this cure is added to the best trial
    double int8Macs = 0; ///< share of all multiplications that it would make float
};

/// State of a search; each step extends it.
struct TuneState
{
    BlamePtr blame; ///< of the initial recipe
    std::vector<Cause> causes;
    std::vector<PredictedPoint> front; ///< predicted from the initial recipe (`predictedFront`)
    std::vector<Trial> trials; ///< in order
    std::vector<UnitTime> times; ///< with `TuneCost::Ms`
    std::size_t best = 0; ///< index into `trials`
    std::int64_t searchSamples = 0, guardSamples = 0;
    /// Number of forward passes over the searched samples: one per trial, two per blame and two
    /// more per probe.
    std::int64_t forwards = 0;
    std::vector<std::string> notes; ///< sentences on what was left out or cannot be reached
    std::string stopped; ///< why the search ended; "" = it continues
    std::vector<RemainingNoise> remaining; ///< if the goal was missed; greatest share first
    /// If the goal was missed: the share of int8 multiplications with which it is predicted to be
    /// reached; empty if it is not.
    std::optional<double> neededInt8;
    /// If the goal was missed: the cures that `keepInt8` forbids, ordered by noise per
    /// multiplication, greatest first.
    std::vector<BarredCure> barred;
    bool isReached() const { return !trials.empty() && trials[best].reached; }
};
using SeeTune = std::function<Result<void>(const TuneState&)>;

/// Figures of trials that an earlier, interrupted search measured, by key.
using KnownTrials = std::map<Key, Trial>;

/// Hash of the content of the request's data (`ContentHashes`), independent of their path. Errors:
/// NotFound and Io, which name the file; Cancelled.
Result<Key> dataContent(const TuneRequest& request, const JobContext& job);

/// The recipe with the cures of a trial and their qconfigs added. A training replaces the recipe's.
Recipe tunedRecipe(Recipe recipe, const Trial& trial);

/// The recipe with the cures of a trial of the search, which name the trial that added them in
/// `Cure::by`, and its gain on the guard if it added no other.
Recipe takenRecipe(const TuneRequest& request, const TuneState& state, std::size_t trial);

/// Indices of the trials that no other trial beats in both SQNR and int8 multiplications (or time,
/// if it was measured), in order.
std::vector<std::size_t> tuneFront(const std::vector<Trial>& trials);

} // namespace qs
