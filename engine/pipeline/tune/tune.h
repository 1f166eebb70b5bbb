// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/blame.h"
#include "engine/blame/causes/cause.h"
#include "engine/pipeline/stage_chain.h"
#include "engine/pipeline/tune/tune_goal.h"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace qs {

/// The kind of a cure, by its name in recipes. Errors: Usage, with the nearest name.
Result<CureKind> parseCureKind(const std::string& name);

/// A cure that a search must not take.
struct ForbiddenCure
{
    CureKind kind = CureKind::Float;
    std::string node; ///< a name of the model's file: a node, or as `addressText` has it
};
/// "float@add_6"; only the part before the first '@' is looked at. Errors: Usage.
Result<ForbiddenCure> parseForbidden(const std::string& text);

/// What is spent least of when operators are made float.
enum class TuneCost : std::uint8_t
{
    Macs, ///< multiplications in float
    Ms ///< time on this processor: what operators take longer as float
};

/// How long one operator takes on this processor, with what is fused with it and the conversions
/// at its inputs and results, in the float model and in the lowered form. Milliseconds a batch.
struct UnitTime
{
    NodeId node; ///< `groupRoot`; none for all other nodes together
    double floatMs = 0, int8Ms = 0;
    friend bool operator==(const UnitTime&, const UnitTime&) = default;
};

/// The user's own figure of a model's outputs, which an .npz holds; higher is better. One that is
/// not finite counts as the worst.
using TuneMetric = std::function<Result<double>(const std::string& outputs, const JobContext&)>;

struct TuneRequest
{
    GraphPtr file; ///< the model before its edits
    Recipe recipe; ///< to start from
    RunSettings settings;
    TuneGoal goal;
    double keepInt8 = 0.8; ///< least share of the multiplications with int8 inputs and weight
    std::int64_t samples = 64; ///< of the compared data, search and guard together
    bool needsGuard = true; ///< refuse data that leave no sample for a guard
    std::uint64_t seed = 0;
    std::set<CureKind> allowed; ///< empty = all
    TuneCost cost = TuneCost::Macs;
    std::vector<UnitTime> times; ///< of an interrupted search; empty = measure them
    std::vector<ForbiddenCure> forbidden;
    TuneMetric metric; ///< of a goal of kind Metric
    std::string metricText; ///< what it is, for the search's state: a command and its files
    Key data; ///< what the data hold: `dataContent`
    std::optional<int> trials; ///< at most
    std::optional<std::int64_t> forwards; ///< about; looked at between trials
    std::optional<double> seconds; ///< about; looked at between trials
};

/// What one form of the model loses on one part of the data.
struct TrialFigures
{
    double db = 0; ///< SQNR of the worst output
    double cosine = 1; ///< of the worst output
    std::optional<double> top1Drop; ///< percentage points, where an output holds class scores
    /// The user's own, over all data that are compared; -inf where it is not finite.
    std::optional<double> metric;
    std::vector<double> byOutput; ///< noise over signal; of outputs that are not measured -1
    /// Standard error of the worst output's noise over samples, as a part of that noise.
    double noiseError = 0;
    friend bool operator==(const TrialFigures&, const TrialFigures&) = default;
};

/// One set of cures that was tried. A value.
struct Trial
{
    Key key; ///< of the decisions
    std::string stage; ///< "start", "free", "ranges", "float", "less float"
    std::vector<Cure> cures; ///< beside those that the recipe came with
    std::vector<std::pair<std::string, QConfig>> qconfigs; ///< that they name
    bool floatNeedless = false; ///< `Recipe::floatNeedless`
    std::optional<double> predictedDb;
    TrialFigures search;
    TrialFigures guard; ///< what the goal is held to; of few guard samples all data
    double int8Macs = 1; ///< share of the multiplications
    /// With `TuneCost::Ms`: a batch on this processor, as the sum of the operators' times.
    std::optional<double> ms;
    std::int64_t forwards = 0; ///< of the search so far, this trial included
    bool reached = false; ///< the goal, on the guard
    friend bool operator==(const Trial& a, const Trial& b) { return a.key == b.key; }
};

/// A site that a missed goal leaves, and what causes its noise.
struct RemainingNoise
{
    std::string node; ///< title of what makes the value
    CauseCode cause = CauseCode::Unexplained;
    double share = 0; ///< of all that is left
};

/// A float cure of a goal that was missed, which the bound of int8 multiplications does not allow.
struct BarredCure
{
    Cure cure;
    double gainDb = 0; ///< predicted, of this cure alone beside those of the best trial
    double int8Macs = 0; ///< share of all multiplications that it would make float
};

/// How a search stands: each step makes the next one.
struct TuneState
{
    BlamePtr blame; ///< of the recipe to start from
    std::vector<Cause> causes;
    std::vector<Trial> trials; ///< in order
    std::vector<UnitTime> times; ///< with `TuneCost::Ms`
    std::size_t best = 0; ///< index into `trials`
    std::int64_t searchSamples = 0, guardSamples = 0;
    /// Forward passes over the searched samples, as far as they count: a trial is one, a blame two
    /// and two more a probe.
    std::int64_t forwards = 0;
    std::vector<std::string> notes; ///< sentences: what was left out, what cannot be reached
    std::string stopped; ///< why the search is over; "" = it goes on
    std::vector<RemainingNoise> remaining; ///< of a goal that was missed, the greatest first
    /// Of a goal that was missed: with how much in int8 it is predicted, if it is.
    std::optional<double> neededInt8;
    /// What stands between a missed goal and the bound of int8 multiplications: the most noise for
    /// its multiplications first.
    std::vector<BarredCure> barred;
    bool isReached() const { return !trials.empty() && trials[best].reached; }
};
using SeeTune = std::function<Result<void>(const TuneState&)>;

/// Figures of trials that an earlier, interrupted search measured, by key.
using KnownTrials = std::map<Key, Trial>;

/// Searches cures that bring the reference form to the goal with the most multiplications in int8:
/// causes first (A), all cures that cost no multiplication at once (B; among them for each value
/// the range of the least predicted noise), then as few float operators as the prediction asks for
/// (D: a knapsack over the shares, corrected by what was measured). Predictions are of the worst
/// output. `see` is called after each trial. A quarter of the batches is the guard: the goal is
/// reached where the guard reaches it, or, of fewer than 8 guard samples, where all samples do. The
/// same request gives the same trials, to the bit; those in `known` are not measured again. `see`
/// is first called before the first trial, once request and data were checked. Errors: the
/// stages', data without a guard, a forbidden cure at no node (Usage), a goal that no output can be
/// held to; a cancel.
Result<TuneState> tune(StageChain& chain, const TuneRequest& request, const KnownTrials& known,
                       const SeeTune& see, const JobContext& job);

/// Hash of what the request's data hold (`ContentHashes`), wherever they lie. Errors: NotFound and
/// Io, which name the file; Cancelled.
Result<Key> dataContent(const TuneRequest& request, const JobContext& job);

/// The recipe with the cures of a trial, and their qconfigs.
Recipe tunedRecipe(Recipe recipe, const Trial& trial);

} // namespace qs
