// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/blame.h"
#include "engine/blame/causes/cause.h"
#include "engine/pipeline/stage_chain.h"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace qs {

/// When a search may stop.
struct TuneGoal
{
    enum class Kind : std::uint8_t
    {
        Sqnr, ///< of the worst output, dB, at least
        Cosine, ///< of the worst output, at least
        Top1Drop, ///< percentage points, at most: of labelled data the accuracy's, else the share
                  ///< of samples whose highest class is another one
    };
    Kind kind = Kind::Sqnr;
    double value = 20;
    friend bool operator==(const TuneGoal&, const TuneGoal&) = default;
};
/// "sqnr 20", "cosine 0.98", "top1-drop 0.5"; the same back. Errors: Usage.
Result<TuneGoal> parseGoal(const std::string& text);
std::string goalText(const TuneGoal& goal);

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
    std::optional<int> trials; ///< at most
    std::optional<double> seconds; ///< about; looked at between trials
};

/// What one form of the model loses on one part of the data.
struct TrialFigures
{
    double db = 0; ///< SQNR of the worst output
    double cosine = 1; ///< of the worst output
    std::optional<double> top1Drop; ///< percentage points, where an output holds class scores
    friend bool operator==(const TrialFigures&, const TrialFigures&) = default;
};

/// One set of cures that was tried. A value.
struct Trial
{
    Key key; ///< of the decisions
    std::string stage; ///< "start", "free", "float", "less float"
    std::vector<Cure> cures; ///< beside those that the recipe came with
    std::vector<std::pair<std::string, QConfig>> qconfigs; ///< that they name
    bool floatNeedless = false; ///< `Recipe::floatNeedless`
    std::optional<double> predictedDb;
    TrialFigures search, guard;
    double int8Macs = 1; ///< share of the multiplications
    bool reached = false; ///< the goal, on the guard
    friend bool operator==(const Trial& a, const Trial& b) { return a.key == b.key; }
};

/// How a search stands: each step makes the next one.
struct TuneState
{
    BlamePtr blame; ///< of the recipe to start from
    std::vector<Cause> causes;
    std::vector<Trial> trials; ///< in order
    std::size_t best = 0; ///< index into `trials`
    std::int64_t searchSamples = 0, guardSamples = 0;
    std::string stopped; ///< why the search is over; "" = it goes on
    bool isReached() const { return !trials.empty() && trials[best].reached; }
};
using SeeTune = std::function<Result<void>(const TuneState&)>;

/// Figures of trials that an earlier, interrupted search measured, by key.
using KnownTrials = std::map<Key, Trial>;

/// Searches cures that bring the reference form to the goal with the most multiplications in int8:
/// causes first (A), all cures that cost no multiplication at once (B), then as few float operators
/// as the prediction asks for (D: a knapsack over the shares, corrected by what was measured).
/// `see` is called after each trial. A quarter of the batches is the guard: the goal is reached
/// where the guard reaches it. The same request gives the same trials, to the bit; those in `known`
/// are not measured again. Errors: the stages', data without a guard, a goal that no output can be
/// held to; a cancel.
Result<TuneState> tune(StageChain& chain, const TuneRequest& request, const KnownTrials& known,
                       const SeeTune& see, const JobContext& job);

/// The recipe with the cures of a trial, and their qconfigs.
Recipe tunedRecipe(Recipe recipe, const Trial& trial);

} // namespace qs
