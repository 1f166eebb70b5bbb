// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/tune/tune_search.h"

#include "engine/base/json/nearest_name.h"
#include "engine/base/text.h"
#include "engine/blame/blame_sites.h"
#include "engine/configure/edit_text.h"
#include "engine/configure/qconfigs/derived_qconfig.h"
#include "engine/graph/text/node_titles.h"
#include "engine/pipeline/tune/tune_json.h"
#include "engine/pipeline/tune/unit_times.h"
#include "engine/plan/module_statistics.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr double kStandardErrors = 2; ///< margin between goal and target
constexpr double kLeastWeight = 1e-3; ///< least weight of an output, relative to the worst output

/// Weights of the outputs: the worst output, which decides about the goal, counts most. Empty if
/// outputs do not differ.
std::vector<double> outputWeights(const TrialFigures& figures)
{
    constexpr int kPower = 4; // an output with half the noise counts a sixteenth
    const auto worst = std::max_element(figures.byOutput.begin(), figures.byOutput.end());
    if (worst == figures.byOutput.end() || !(*worst > 0) || !std::isfinite(*worst))
        return {};
    std::vector<double> weights;
    for (const double noise : figures.byOutput) {
        const double weight = noise > 0 ? std::pow(noise / *worst, kPower) : 0;
        weights.push_back(weight >= kLeastWeight ? weight : 0);
    }
    return weights;
}

/// Whether an error depends on the recipe, so that another trial may succeed.
bool isOfRecipe(const Error& error)
{
    return error.code == ErrorCode::BadInput || error.code == ErrorCode::Unsupported
        || error.code == ErrorCode::Numeric;
}

void noteOnce(std::vector<std::string>& notes, const std::string& note)
{
    if (std::find(notes.begin(), notes.end(), note) == notes.end())
        notes.push_back(note);
}

/// Removes qconfigs that no cure names, and duplicates.
void dropUnnamed(std::vector<std::pair<std::string, QConfig>>& qconfigs,
                 const std::vector<Cure>& cures)
{
    std::erase_if(qconfigs, [&](const auto& named) {
        return std::none_of(cures.begin(), cures.end(),
                            [&](const Cure& cure) { return cure.qconfig == named.first; });
    });
}

} // namespace

TuneSearch::TuneSearch(const TuneRequest& request, const KnownTrials& known, const SeeTune& see,
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
    m_state.notes = m_measure.notes();
    m_state.forwards = 1; // run of the float model
}

Result<TuneSearch> TuneSearch::create(const TuneRequest& request, const KnownTrials& known,
                                      const SeeTune& see, const JobContext& job,
                                      TuneMeasure measure)
{
    TuneSearch made(request, known, see, job, std::move(measure));
    QS_CHECK(made.findForbidden());
    return made;
}

Result<void> TuneSearch::findForbidden()
{
    if (m_request.forbidden.empty())
        return {};
    const NodeTitles titles(*m_request.file);
    std::vector<std::string> names;
    for (const ForbiddenCure& forbidden : m_request.forbidden) {
        bool isFound = false;
        for (const NodePtr& node : m_request.file->nodes()) {
            const ValueAddress at = m_addresses.of({node->id, 0});
            if (at.kind == ValueAddress::Kind::None)
                continue;
            names.push_back(node->name);
            if (node->name == forbidden.node || titles.of(*node) == forbidden.node
                || addressText(at) == forbidden.node) {
                m_forbidden.emplace_back(forbidden.kind, at);
                isFound = true;
            }
        }
        if (!isFound)
            return fail(makeError(ErrorCode::Usage,
                                  "--forbid: the model has no node " + inQuotes(forbidden.node))
                            .withHint(suggestName(forbidden.node, names)));
    }
    return {};
}

bool TuneSearch::isAllowed(CureKind kind) const
{
    return m_request.allowed.empty() ? kind != CureKind::Train : m_request.allowed.contains(kind);
}

bool TuneSearch::isAllowed(const Cure& cure) const
{
    return isAllowed(cure.kind)
        && std::none_of(m_forbidden.begin(), m_forbidden.end(), [&](const auto& one) {
               return one.first == cure.kind
                   && (one.second == cure.at
                       || std::find(cure.nodes.begin(), cure.nodes.end(), one.second)
                           != cure.nodes.end());
           });
}

std::optional<double> TuneSearch::secondsLeft() const
{
    if (!m_request.seconds)
        return {};
    return std::max(0.0, *m_request.seconds - (m_measure.isShared() ? m_sharedSeconds : seconds()));
}

double TuneSearch::seconds() const
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count();
}

bool TuneSearch::isSpent()
{
    if (m_request.trials && int(m_state.trials.size()) >= *m_request.trials)
        m_state.stopped = "the trials are used up";
    else if (m_request.forwards && m_state.forwards >= *m_request.forwards)
        m_state.stopped = "the forward passes are used up";
    else if (secondsLeft() == 0)
        m_state.stopped = "the time is used up";
    return !m_state.stopped.empty();
}

double TuneSearch::aimedNoise(const Trial& base) const
{
    return shareOfDb(aimedDb(m_request.goal)) / (1 + kStandardErrors * base.search.noiseError);
}

double TuneSearch::excess(const Trial& trial) const
{
    const double wanted = shareOfDb(aimedDb(m_request.goal));
    return std::max(shareOfDb(trial.guard.db), shareOfDb(trial.search.db)) / wanted;
}

Key TuneSearch::keyOf(const Recipe& recipe) const
{
    return trialKey(*m_request.file, recipe, {m_request.data, m_request.samples, m_request.seed});
}

std::optional<Trial> TuneSearch::withKnownFigures(Trial trial) const
{
    trial.key = keyOf(tunedRecipe(m_request.recipe, trial));
    const auto known = m_known.find(trial.key);
    if (known == m_known.end() || !m_measure.isTold(known->second.guard))
        return {};
    trial.search = known->second.search;
    trial.guard = known->second.guard;
    trial.int8Macs = known->second.int8Macs;
    trial.ms = known->second.ms;
    trial.reached = m_measure.reaches(trial.guard);
    return trial;
}

Result<void> TuneSearch::dropUnfit(Trial& trial)
{
    const Recipe recipe = tunedRecipe(m_request.recipe, trial);
    const auto unfit = m_measure.unfit(recipe, m_job);
    if (!unfit)
        return unfit.error().code == ErrorCode::Cancelled ? fail(unfit.error()) : Result<void>();
    for (const std::size_t index : *unfit)
        if (std::erase(trial.cures, recipe.cures[index]) > 0)
            m_unfit.push_back(recipe.cures[index]);
    dropUnnamed(trial.qconfigs, trial.cures);
    return {};
}

Result<bool> TuneSearch::attempt(Trial trial)
{
    trial.base.reset(); // until here the trial has the key of the one that it extends
    for (std::size_t i = 0; i < m_state.trials.size(); ++i)
        if (m_state.trials[i].key == trial.key)
            trial.base = i;
    dropUnnamed(trial.qconfigs, trial.cures);
    if (!withKnownFigures(trial))
        QS_CHECK(dropUnfit(trial));
    const Recipe recipe = tunedRecipe(m_request.recipe, trial);
    trial.key = keyOf(recipe);
    if (m_measure.isShared())
        QS_CHECK(m_measure.checkSameTrial(trial.key, m_job));
    if (trial.base && m_state.trials[*trial.base].key == trial.key)
        return false;
    ++m_state.forwards;
    trial.forwards = m_state.forwards;
    trial.ms.reset();
    m_job.report("tune", "trial " + std::to_string(m_state.trials.size() + 1), 0);
    if (auto known = withKnownFigures(trial)) {
        trial = std::move(*known);
    } else {
        auto made = m_measure.make(recipe, m_job);
        if (!made && !m_state.trials.empty() && isOfRecipe(made.error())) {
            noteOnce(m_state.notes,
                     "a trial of the stage " + inQuotes(trial.stage)
                         + " is not possible: " + made.error().message);
            return false;
        }
        QS_TRY(m_made, std::move(made));
        m_madeOf = trial.key;
        QS_CHECK(m_measure.measure(m_made, trial, m_job));
    }
    QS_CHECK(addTime(trial));
    if (m_measure.isShared() && m_request.seconds) {
        QS_TRY(m_sharedSeconds, m_measure.sharedSeconds(seconds(), m_job));
    }
    m_state.trials.push_back(std::move(trial));
    const std::size_t last = m_state.trials.size() - 1;
    if (isBetter(m_state.trials[last], m_state.trials[m_state.best]))
        m_state.best = last;
    QS_CHECK(m_see(m_state));
    return true;
}

Result<void> TuneSearch::addTime(Trial& trial)
{
    if (m_request.cost != TuneCost::Ms)
        return {};
    if (m_state.times.empty())
        m_state.times = m_request.times;
    if (m_state.times.empty() || !trial.ms) {
        QS_TRY(const TrialModel model, modelOf(trial));
        const PreparedModel& prepared = *model.calibration->prepared;
        if (m_state.times.empty()) {
            const Recipe recipe = tunedRecipe(m_request.recipe, trial);
            QS_TRY(m_state.times, m_measure.times(model, recipe, m_job));
        }
        trial.ms = totalMs(m_state.times, *prepared.model, *prepared.plan);
    }
    return {};
}

FloatKnapsack TuneSearch::knapsack(const TrialModel& model, const Blame& blame) const
{
    const PreparedModel& prepared = *model.calibration->prepared;
    return {blame, *prepared.model, *prepared.plan, macsByOperator(*prepared.model),
            addedMs(m_state.times)};
}

bool TuneSearch::isBetter(const Trial& one, const Trial& other) const
{
    if (one.reached != other.reached)
        return one.reached;
    const bool keeps = one.int8Macs >= m_request.keepInt8;
    if (const bool otherKeeps = other.int8Macs >= m_request.keepInt8; keeps != otherKeeps)
        return keeps;
    if (one.reached)
        return one.ms && other.ms ? *one.ms < *other.ms : one.int8Macs > other.int8Macs;
    switch (m_request.goal.kind) {
    case TuneGoal::Kind::Top1Drop:
        if (one.guard.top1Drop != other.guard.top1Drop)
            return one.guard.top1Drop < other.guard.top1Drop;
        break;
    case TuneGoal::Kind::Metric:
        if (one.guard.metric != other.guard.metric)
            return one.guard.metric > other.guard.metric;
        break;
    default:
        break;
    }
    return one.guard.db > other.guard.db;
}

Result<TrialModel> TuneSearch::modelOf(const Trial& trial) const
{
    if (m_madeOf == trial.key)
        return m_made;
    return m_measure.make(tunedRecipe(m_request.recipe, trial), m_job);
}

Result<BlamePtr> TuneSearch::blamed(const TrialModel& model, const Trial& trial,
                                    std::optional<std::int64_t> exact, const RangesToTry& tries)
{
    BlameOptions options;
    options.seed = m_request.seed;
    options.samples = m_request.samples;
    options.exact = exact;
    options.weights = outputWeights(trial.search);
    QS_TRY(BlamePtr blame,
           blameSites(*model.converted, m_measure.searchData(), model.calibration->device, options,
                      m_job, tries));
    m_state.forwards += 2 + 2 * blame->probes;
    return blame;
}

Result<Corrections> TuneSearch::corrected(const TrialModel& model, const CorrectionOptions& options)
{
    QS_TRY(Corrections made,
           correctLayers(*model.converted, m_measure.searchData(), options, m_job));
    m_state.forwards += 2; // both forms
    return made;
}

Result<SavedTraining> TuneSearch::trained(const TrialModel& model, const Trial& trial, int steps)
{
    TrainingSettings settings;
    settings.steps = steps;
    settings.learnsScales = true;
    settings.seconds = secondsLeft();
    return m_measure.train(model, tunedRecipe(m_request.recipe, trial), std::move(settings), m_job);
}

std::int64_t TuneSearch::forwardsOf(int steps) const
{
    constexpr std::int64_t kEach = 3; // a step runs one batch, and back as long as two runs
    const std::int64_t batches = std::max<std::int64_t>(1, m_measure.searchBatches());
    return (kEach * steps + batches - 1) / batches;
}

Result<CalibrationPtr> TuneSearch::calibrationOf(const Trial& trial) const
{
    return m_measure.calibrated(tunedRecipe(m_request.recipe, trial), m_job);
}

bool TuneSearch::add(Trial& trial, Cure cure, const std::optional<QConfig>& qconfig) const
{
    if (!isAllowed(cure))
        return false;
    if (std::any_of(m_unfit.begin(), m_unfit.end(), [&](const Cure& unfit) {
            return unfit.kind == cure.kind && unfit.at == cure.at;
        }))
        return false;
    if (qconfig) {
        Recipe naming = tunedRecipe(m_request.recipe, trial); // to choose unused names
        const NamedQConfig named = addQConfig(naming, *qconfig, "tune");
        cure.qconfig = named.name;
        const auto isNamed = [&](const auto& own) { return own.first == named.name; };
        if (naming.qconfigs.contains(named.name) && !m_request.recipe.qconfigs.contains(named.name)
            && std::none_of(trial.qconfigs.begin(), trial.qconfigs.end(), isNamed))
            trial.qconfigs.emplace_back(named.name, *qconfig);
    }
    const auto same = std::find_if(trial.cures.begin(), trial.cures.end(), [&](const Cure& other) {
        return other.kind == cure.kind && other.at == cure.at;
    });
    if (same == trial.cures.end())
        trial.cures.push_back(std::move(cure));
    else if (same->qconfig == cure.qconfig && same->nodes == cure.nodes
             && same->channels == cure.channels)
        return false;
    else
        *same = std::move(cure);
    return true;
}

} // namespace qs
