// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/tune/tune.h"

#include "engine/base/text.h"
#include "engine/blame/blame_sites.h"
#include "engine/configure/qconfigs/derived_qconfig.h"
#include "engine/edit/addresses.h"
#include "engine/pipeline/causes_of.h"
#include "engine/pipeline/keys/content_keys.h"
#include "engine/pipeline/keys/decision_keys.h"
#include "engine/pipeline/tune/float_choice.h"
#include "engine/pipeline/tune/tune_measure.h"
#include "engine/plan/module_statistics.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

namespace qs {

namespace {

struct GoalWord
{
    TuneGoal::Kind kind;
    std::string_view word;
};
constexpr std::array kGoalWords {GoalWord {TuneGoal::Kind::Sqnr, "sqnr"},
                                 GoalWord {TuneGoal::Kind::Cosine, "cosine"},
                                 GoalWord {TuneGoal::Kind::Top1Drop, "top1-drop"}};

constexpr double kFirstDb = 20; ///< aimed at where a goal tells no noise
constexpr double kStricter = 0.5; ///< of the noise, where a trial missed such a goal
constexpr double kMarginDb = 0.5; ///< least, between search and guard
constexpr int kMostFreeRounds = 4;
constexpr double kLeastGainDb = 0.5; ///< of a round of free cures, for another one
constexpr int kGivesBack = 3; ///< trials that look for fewer float operators
constexpr int kMostFloatTrials = 12;

double noiseOf(double db)
{
    return std::pow(10, -db / 10);
}

/// The SQNR that a goal asks for, as far as it tells one: for small noise 1 - cosine is half of
/// noise over signal.
double aimedDb(const TuneGoal& goal)
{
    if (goal.kind == TuneGoal::Kind::Sqnr)
        return goal.value;
    if (goal.kind == TuneGoal::Kind::Cosine && goal.value < 1)
        return -10 * std::log10(2 * (1 - goal.value));
    return kFirstDb;
}

/// One search.
class Tuner
{
public:
    Tuner(const TuneRequest& request, const KnownTrials& known, const SeeTune& see,
          const JobContext& job, TuneMeasure measure)
        : m_request(request)
        , m_known(known)
        , m_see(see)
        , m_job(job)
        , m_measure(std::move(measure))
        , m_addresses(request.file)
    {
        m_state.searchSamples = m_measure.searchSamples();
        m_state.guardSamples = m_measure.guardSamples();
    }

    Result<TuneState> run()
    {
        Trial start;
        start.stage = "start";
        QS_CHECK(attempt(std::move(start)));
        if (m_state.isReached())
            return over("the goal is reached as it is: nothing was changed");
        for (int round = 0; round < kMostFreeRounds && !m_state.isReached() && !isSpent();
             ++round) {
            const double before = m_state.trials[m_state.best].guard.db;
            QS_CHECK(tryFree(round == 0));
            if (m_state.trials[m_state.best].guard.db < before + kLeastGainDb)
                break;
        }
        if (!m_state.isReached() && !isSpent())
            QS_CHECK(tryFloat());
        if (!m_state.stopped.empty())
            return over(m_state.stopped);
        return over(m_state.isReached() ? "the goal is reached" : "no further cure is predicted");
    }

private:
    Result<TuneState> over(std::string why)
    {
        m_state.stopped = std::move(why);
        QS_CHECK(m_see(m_state));
        return m_state;
    }

    bool isAllowed(CureKind kind) const
    {
        return m_request.allowed.empty() || m_request.allowed.contains(kind);
    }

    /// True once the budget is used up, which the state then tells.
    bool isSpent()
    {
        const double seconds
            = std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count();
        if (m_request.trials && int(m_state.trials.size()) >= *m_request.trials)
            m_state.stopped = "the trials are used up";
        else if (m_request.seconds && seconds >= *m_request.seconds)
            m_state.stopped = "the time is used up";
        return !m_state.stopped.empty();
    }

    Key keyOf(const Recipe& recipe) const
    {
        return KeyBuilder("trial")
            .add(modelKey(*m_request.file))
            .add(planningKey(recipe))
            .add(loweringKey(recipe))
            .add(cutKey(recipe.calibration))
            .add(m_request.settings.calibrationData)
            .add(m_request.settings.compared())
            .add(m_request.samples)
            .add(std::int64_t(m_request.seed))
            .key();
    }

    /// Measures a trial, or takes over what is known of it, and keeps it.
    Result<void> attempt(Trial trial)
    {
        const Recipe recipe = tunedRecipe(m_request.recipe, trial);
        trial.key = keyOf(recipe);
        m_job.report("tune", "trial " + std::to_string(m_state.trials.size() + 1), 0);
        if (const auto known = m_known.find(trial.key); known != m_known.end()) {
            trial.search = known->second.search;
            trial.guard = known->second.guard;
            trial.int8Macs = known->second.int8Macs;
            trial.reached = m_measure.reaches(trial.guard);
        } else {
            QS_TRY(m_made, m_measure.make(recipe, m_job));
            m_madeOf = trial.key;
            QS_CHECK(m_measure.measure(m_made, trial, m_job));
        }
        m_state.trials.push_back(std::move(trial));
        const std::size_t last = m_state.trials.size() - 1;
        if (isBetter(m_state.trials[last], m_state.trials[m_state.best]))
            m_state.best = last;
        return m_see(m_state);
    }

    bool isBetter(const Trial& one, const Trial& other) const
    {
        if (one.reached != other.reached)
            return one.reached;
        const bool keeps = one.int8Macs >= m_request.keepInt8;
        if (const bool otherKeeps = other.int8Macs >= m_request.keepInt8; keeps != otherKeeps)
            return keeps;
        return one.reached ? one.int8Macs > other.int8Macs : one.guard.db > other.guard.db;
    }

    /// The best so far as a model; the one that was measured last is at hand.
    Result<TrialModel> bestModel() const
    {
        const Trial& best = m_state.trials[m_state.best];
        if (best.key == m_madeOf)
            return m_made;
        return m_measure.make(tunedRecipe(m_request.recipe, best), m_job);
    }

    Result<BlamePtr> blamed(const TrialModel& model) const
    {
        BlameOptions options;
        options.seed = m_request.seed;
        options.samples = m_request.samples;
        return blameSites(*model.converted, m_measure.searchData(), model.calibration->device,
                          options, m_job);
    }

    /// A cure for each group of operators, as far as they have addresses.
    std::vector<Cure> floatCures(const FloatChoice& choice) const
    {
        std::vector<Cure> cures;
        for (const std::vector<NodeId>& group : choice.groups) {
            Cure cure;
            for (const NodeId id : group) {
                const ValueAddress at
                    = m_request.file->tryGet(id) ? m_addresses.of({id, 0}) : ValueAddress {};
                if (at.kind == ValueAddress::Kind::None)
                    continue;
                if (cure.at.kind == ValueAddress::Kind::None)
                    cure.at = at;
                else
                    cure.nodes.push_back(at);
            }
            if (cure.at.kind != ValueAddress::Kind::None)
                cures.push_back(std::move(cure));
        }
        return cures;
    }

    /// A and B: why the best so far is not better, and all cures at once that cost no
    /// multiplication. What an earlier round took stays.
    Result<void> tryFree(bool isFirst)
    {
        Trial trial = m_state.trials[m_state.best];
        trial.stage = "free";
        trial.predictedDb.reset();
        const Recipe recipe = tunedRecipe(m_request.recipe, trial);
        QS_TRY(const TrialModel model, bestModel());
        QS_TRY(const BlamePtr blame, blamed(model));
        const std::vector<Cause> causes = causesOf(*model.calibration, *blame, m_request.file);
        if (isFirst) {
            m_state.blame = blame;
            m_state.causes = causes;
            QS_CHECK(m_see(m_state));
        }
        const std::size_t taken = trial.cures.size();
        const Graph& graph = *model.calibration->prepared->model;
        if (isAllowed(CureKind::Float)) {
            const FloatKnapsack knapsack(*blame, graph, *model.calibration->prepared->plan,
                                         macsByOperator(graph));
            for (Cure& cure : floatCures(knapsack.freeOnes()))
                trial.cures.push_back(std::move(cure));
        }
        const auto isTaken = [&trial](const Cure& cure) {
            return std::any_of(trial.cures.begin(), trial.cures.end(), [&](const Cure& other) {
                return other.kind == cure.kind && other.at == cure.at;
            });
        };
        Recipe naming = recipe; // takes the names that are free
        for (const Cause& cause : causes)
            for (const Proposal& proposal : cause.proposals) {
                if (proposal.cure.kind == CureKind::Float || !isAllowed(proposal.cure.kind)
                    || isTaken(proposal.cure))
                    continue;
                Cure cure = proposal.cure;
                if (proposal.qconfig) {
                    const NamedQConfig named = addQConfig(naming, *proposal.qconfig, "tune_1");
                    cure.qconfig = named.name;
                    if (naming.qconfigs.contains(named.name)
                        && !recipe.qconfigs.contains(named.name))
                        trial.qconfigs.emplace_back(named.name, *proposal.qconfig);
                }
                trial.cures.push_back(std::move(cure));
                break;
            }
        const bool wasNeedless = trial.floatNeedless;
        trial.floatNeedless = isAllowed(CureKind::FloatResult);
        if (trial.cures.size() == taken && trial.floatNeedless == wasNeedless)
            return {};
        return attempt(std::move(trial));
    }

    /// D: as few float operators as the prediction asks for, corrected by what is measured.
    Result<void> tryFloat()
    {
        if (!isAllowed(CureKind::Float))
            return {};
        const Trial base = m_state.trials[m_state.best];
        QS_TRY(const TrialModel model, bestModel());
        QS_TRY(const BlamePtr blame, blamed(model));
        const Graph& graph = *model.calibration->prepared->model;
        const FloatKnapsack knapsack(*blame, graph, *model.calibration->prepared->plan,
                                     macsByOperator(graph));
        const double mostFloat = std::max(0.0, base.int8Macs - m_request.keepInt8);
        double aim = noiseOf(aimedDb(m_request.goal) + kMarginDb), missed = 0, reached = 0;
        std::size_t lastSize = 0;
        int givesBack = 0;
        for (int i = 0; i < kMostFloatTrials && !isSpent(); ++i) {
            const FloatChoice choice = knapsack.choose(aim, mostFloat);
            const std::vector<Cure> cures = floatCures(choice);
            if (cures.empty() || cures.size() == lastSize)
                break;
            lastSize = cures.size();
            Trial trial = base;
            trial.stage = reached > 0 ? "less float" : "float";
            trial.cures.insert(trial.cures.end(), cures.begin(), cures.end());
            trial.predictedDb = shareDb(choice.noise);
            QS_CHECK(attempt(std::move(trial)));
            const Trial& made = m_state.trials.back();
            if (made.reached)
                reached = aim;
            else
                missed = aim;
            if (!made.reached && choice.isBounded && reached == 0) {
                m_state.stopped = "more float operators would leave less than "
                    + fixedText(100 * m_request.keepInt8, 0) + " % of the multiplications in int8";
                break;
            }
            if (reached > 0 && missed > 0) {
                if (++givesBack > kGivesBack)
                    break;
                aim = std::sqrt(reached * missed);
            } else if (reached > 0) {
                if (++givesBack > kGivesBack)
                    break;
                aim /= kStricter;
            } else {
                aim = stricter(aim, made);
            }
        }
        return {};
    }

    /// The secant: as much less noise as the trial had too much; where the goal tells no noise, a
    /// half.
    double stricter(double aim, const Trial& made) const
    {
        constexpr double kLeast = 0.05, kMost = 0.9;
        const auto kind = m_request.goal.kind;
        if (kind != TuneGoal::Kind::Sqnr && kind != TuneGoal::Kind::Cosine)
            return aim * kStricter;
        const double wanted = noiseOf(aimedDb(m_request.goal));
        return aim * std::clamp(wanted / noiseOf(made.guard.db), kLeast, kMost);
    }

    const TuneRequest& m_request;
    const KnownTrials& m_known;
    const SeeTune& m_see;
    const JobContext& m_job;
    TuneMeasure m_measure;
    Addresses m_addresses;
    TuneState m_state;
    TrialModel m_made; ///< of the trial `m_madeOf`
    Key m_madeOf;
    std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
};

} // namespace

Result<TuneGoal> parseGoal(const std::string& text)
{
    const auto space = text.find(' ');
    const std::string word = text.substr(0, space);
    for (const GoalWord& row : kGoalWords) {
        if (word != row.word || space == std::string::npos)
            continue;
        const std::string number = text.substr(space + 1);
        TuneGoal goal {row.kind, 0};
        const auto [end, problem]
            = std::from_chars(number.data(), number.data() + number.size(), goal.value);
        if (problem == std::errc() && end == number.data() + number.size()
            && std::isfinite(goal.value))
            return goal;
    }
    return fail(makeError(ErrorCode::Usage, "'" + text + "' is no goal")
                    .withHint("give 'sqnr 20', 'cosine 0.98' or 'top1-drop 0.5'"));
}

std::string goalText(const TuneGoal& goal)
{
    for (const GoalWord& row : kGoalWords)
        if (row.kind == goal.kind)
            return std::string(row.word) + " " + numberText(goal.value, 6);
    return "";
}

Recipe tunedRecipe(Recipe recipe, const Trial& trial)
{
    for (const auto& [name, qconfig] : trial.qconfigs)
        recipe.qconfigs[name] = qconfig;
    recipe.cures.insert(recipe.cures.end(), trial.cures.begin(), trial.cures.end());
    recipe.floatNeedless = recipe.floatNeedless || trial.floatNeedless;
    return recipe;
}

Result<TuneState> tune(StageChain& chain, const TuneRequest& request, const KnownTrials& known,
                       const SeeTune& see, const JobContext& job)
{
    QS_TRY(TuneMeasure measure, TuneMeasure::create(chain, request, job));
    return Tuner(request, known, see, job, std::move(measure)).run();
}

} // namespace qs
