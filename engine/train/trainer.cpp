// SPDX-License-Identifier: Apache-2.0
#include "engine/train/trainer.h"

#include "engine/base/decibels.h"
#include "engine/base/text.h"
#include "engine/base/torch_guard.h"
#include "engine/compare/metrics/metrics.h"
#include "engine/train/optimizer.h"
#include "engine/train/teacher.h"
#include "engine/train/trained_model.h"
#include "engine/train/training_batches.h"
#include "engine/train/training_checkpoint.h"
#include "engine/train/training_pass.h"
#include "engine/train/usual_rates.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numbers>
#include <random>
#include <set>
#include <sstream>
#include <utility>

namespace qs {

namespace {

constexpr int kMeasurements = 20; ///< about, over a training; more if it is a long one
constexpr int kLeastApart = 25; ///< steps between measurements of a long training, or a pass
constexpr double kSaveEvery = 30; ///< seconds between checkpoints

/// SQNR of the worst output that has a signal.
double worstDb(const std::vector<ErrorSums>& sums)
{
    double worst = kExactDb;
    for (const ErrorSums& output : sums)
        if (const auto error = metricsFrom(output); error && error->sqnrDb)
            worst = std::min(worst, *error->sqnrDb);
    return worst;
}

class Trainer
{
public:
    Trainer(const TrainingTask& task, const TrainingSettings& settings, const TrainingStore& store,
            const SeeTraining& see, const JobContext& job)
        : m_task(task)
        , m_graph(task.graph)
        , m_settings(settings)
        , m_store(store)
        , m_see(see)
        , m_job(job)
        , m_device(settings.device)
    {
    }

    Result<Training> run()
    {
        const StartRanges& start = m_task.start;
        QS_TRY(m_batches, TrainingBatches::create(m_task.data, m_settings));
        QS_TRY(m_state,
               TrainingState::create(m_graph, {start, m_settings.learnsScales, m_settings.frozen},
                                     m_device));
        QS_TRY(TrainingPass pass,
               TrainingPass::create(m_graph, *m_state, m_device, m_task.valueBytes, m_job));
        m_pass.emplace(std::move(pass));
        QS_TRY(m_teacher, Teacher::create(m_task.teacher, m_device, m_job));
        m_begin = std::chrono::steady_clock::now();
        m_random.seed(m_settings.seed);
        // Without a start everything is as in torch.ao, whose modules clamp at quant_min and
        // quant_max.
        m_saturation = start ? Saturation::Storage : Saturation::Observer;
        if (m_store.resumes) {
            QS_CHECK(resume());
        } else {
            if (start)
                QS_CHECK(measure(0));
            makeOptimizer();
        }
        QS_CHECK(runSteps());
        if (!m_best.empty())
            m_state->restore(m_best);
        if (!m_made.points.empty() && m_made.points[m_made.best].step == 0)
            m_made.notes.push_back("no step was better than before the training: the weights are "
                                   "those of before");
        const int step = m_made.points.empty() ? 0 : m_made.points[m_made.best].step;
        m_made.model = trainedModel(m_graph, *m_state, isBefore(step, m_settings.freezeObservers));
        return std::move(m_made);
    }

private:
    /// Call after the measurement before the training, if there is one.
    void makeOptimizer()
    {
        const auto rates = m_settings.rate
            ? std::vector<double>(m_state->learned().size(), *m_settings.rate)
            : usualRates(*m_state, m_made.points);
        m_optimizer.emplace(m_settings.optimizer, rates, m_settings.momentum);
    }

    double seconds() const
    {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_begin).count();
    }

    /// Measures the guard; keeps the state if it is the best.
    Result<void> measure(int step)
    {
        TrainingPoint point {step, m_lossSteps > 0 ? m_lossSum / m_lossSteps : 0, {}, 0};
        if (!m_batches->guard().empty()) {
            std::vector<ErrorSums> sums;
            for (const std::int64_t number : m_batches->guard()) {
                QS_TRY(const TrainingBatch batch, m_batches->read(number));
                QS_TRY(const auto clean, m_teacher->outputs(number, batch.inputs, m_job));
                QS_TRY(const auto noisy, m_pass->outputs(batch.inputs, m_job));
                sums.resize(std::min(clean.size(), m_task.measured));
                for (std::size_t i = 0; i < sums.size(); ++i)
                    if (clean[i].defined() && noisy[i].defined())
                        QS_CHECK(addError(sums[i], clean[i], noisy[i]));
                m_guardSamples[number] = batch.samples;
            }
            point.guardDb = worstDb(sums);
        }
        m_lossSum = 0;
        m_lossSteps = 0;
        point.seconds = seconds();
        const auto& points = m_made.points;
        const bool isBest
            = points.empty() || !point.guardDb || *point.guardDb > *points[m_made.best].guardDb;
        if (isBest) {
            m_made.best = points.size();
            m_best = m_state->snapshot();
        }
        m_made.points.push_back(point);
        m_made.guardSamples = 0;
        for (const auto& [number, samples] : m_guardSamples)
            m_made.guardSamples += samples;
        if (m_see)
            m_see(m_made);
        return {};
    }

    /// The batches of one pass over the data.
    std::vector<std::int64_t> order()
    {
        std::vector<std::int64_t> order = m_batches->trained();
        if (m_settings.seed != 0)
            for (std::size_t i = order.size(); i > 1; --i)
                std::swap(order[i - 1], order[m_random() % i]);
        return order;
    }

    /// Whether the guard is measured after this step. Does not depend on the clock.
    bool isMeasured(int step) const
    {
        const int pass = std::max(int(m_batches->trained().size()), kLeastApart);
        const int every = std::max(1, std::min(m_settings.steps / kMeasurements, pass));
        return step % every == 0 || step == m_settings.steps;
    }

    Result<void> runSteps()
    {
        m_made.stopped = "all steps";
        const bool isOwed = m_made.steps > 0 && isMeasured(m_made.steps)
            && (m_made.points.empty() || m_made.points.back().step != m_made.steps);
        auto ran = isOwed ? measure(m_made.steps) : Result<void>();
        while (ran && m_made.steps < m_settings.steps) {
            ran = runNext(m_made.steps + 1);
            if (ran && m_settings.seconds && seconds() >= *m_settings.seconds
                && m_made.steps < m_settings.steps) {
                m_made.stopped = "the time is used up";
                break;
            }
            if (ran && seconds() - m_savedAt >= kSaveEvery)
                QS_CHECK(save());
        }
        if (ran || !isCancel(ran.error()))
            return ran;
        QS_CHECK(save());
        return m_made.points.empty() ? ran : Result<void>();
    }

    /// One step, and the measurement after it.
    Result<void> runNext(int step)
    {
        if (m_left.empty()) {
            m_left = order();
            std::reverse(m_left.begin(), m_left.end());
        }
        const auto observed = m_state->observed();
        auto ran = runStep(step, m_left.back());
        if (!ran && !m_hasRun && ran.error().code != ErrorCode::Cancelled) {
            m_state->restoreObserved(observed);
            QS_TRY(const TrainingBatch batch, m_batches->read(m_left.back()));
            QS_TRY(const bool isNew, m_pass->findStops(batch.inputs, m_job));
            if (isNew)
                ran = runStep(step, m_left.back());
        }
        if (!ran) {
            m_state->restoreObserved(observed); // the state is that after a whole step
            return ran;
        }
        m_hasRun = true;
        m_left.pop_back();
        m_made.steps = step;
        const bool isLate = m_settings.seconds && seconds() >= *m_settings.seconds;
        return isMeasured(step) || isLate ? measure(step) : Result<void>();
    }

    /// Writes the checkpoint, if one is wanted.
    Result<void> save()
    {
        if (m_store.path.empty())
            return {};
        m_savedAt = seconds();
        TrainingCheckpoint now;
        now.made = m_made;
        now.settings = m_settings;
        now.fromScratch = !m_task.start;
        now.left = m_left;
        now.seen.assign(m_seen.begin(), m_seen.end());
        std::ostringstream random;
        random << m_random;
        now.random = random.str();
        now.lossSum = m_lossSum;
        now.lossSteps = m_lossSteps;
        now.seconds = seconds();
        now.state = m_state->snapshot();
        now.best = m_best;
        now.optimizer = m_optimizer->state();
        return writeCheckpoint(now, m_store);
    }

    /// Continues from the checkpoint of an interrupted training.
    Result<void> resume()
    {
        QS_TRY(TrainingCheckpoint was, readCheckpoint(m_store));
        m_made = std::move(was.made);
        makeOptimizer();
        const bool fits = was.state.size() == m_state->snapshot().size()
            && was.optimizer.size() == m_optimizer->state().size()
            && (was.best.empty() || was.best.size() == was.state.size());
        if (!fits)
            return fail(makeError(ErrorCode::BadInput, "the checkpoint is damaged")
                            .inFile(m_store.path)
                            .withHint("train without --resume"));
        m_left = std::move(was.left);
        m_seen.insert(was.seen.begin(), was.seen.end());
        std::istringstream(was.random) >> m_random;
        m_lossSum = was.lossSum;
        m_lossSteps = was.lossSteps;
        m_begin -= std::chrono::duration_cast<std::chrono::steady_clock::duration>(
            std::chrono::duration<double>(was.seconds));
        m_savedAt = was.seconds;
        m_state->restore(was.state);
        m_best = std::move(was.best);
        for (at::Tensor& tensor : was.optimizer)
            if (tensor.defined())
                tensor = tensor.to(m_device);
        m_optimizer->setState(std::move(was.optimizer));
        return {};
    }

    /// Whether the error is a cancel after something was trained.
    bool isCancel(const Error& error)
    {
        if (error.code != ErrorCode::Cancelled || m_made.steps == 0)
            return false;
        m_made.stopped = "cancelled";
        return true;
    }

    /// Notes the parameters that no derivative reaches.
    void noteUntrained(const TrainingGradients& found)
    {
        std::vector<std::string> names;
        for (const NodeId node : m_state->trained())
            if (!found.of.at(m_state->indexOf(node)).defined())
                names.push_back(m_graph.graph->get(node).target);
        if (names.empty())
            return;
        const std::string stopping = m_pass->stoppingNode();
        m_made.notes.push_back(
            "no derivative reaches " + quotedNames(names) + ", so they do not train"
            + (stopping.empty() ? "" : ": " + inQuotes(stopping) + " has no derivative"));
    }

    double rateFactor(int step) const
    {
        if (!m_settings.decays)
            return 1;
        double share = double(step - 1) / m_settings.steps;
        if (m_settings.seconds)
            share = std::max(share, std::min(1.0, seconds() / *m_settings.seconds));
        return 0.5 * (1 + std::cos(std::numbers::pi * share));
    }

    static bool isBefore(int step, const std::optional<int>& limit)
    {
        return !limit || step <= *limit;
    }

    Result<void> runStep(int step, std::int64_t number)
    {
        QS_TRY(const TrainingBatch batch, m_batches->read(number));
        if (m_seen.insert(number).second)
            m_made.trainedSamples += batch.samples;
        LossOf lossOf;
        if (m_settings.loss == TrainingLoss::Labels) {
            lossOf = [&](std::span<const at::Tensor> outputs) {
                return labelLoss(outputs, batch.labels);
            };
        } else {
            QS_TRY(const auto clean, m_teacher->outputs(number, batch.inputs, m_job));
            lossOf = [clean](std::span<const at::Tensor> outputs) {
                return distillLoss(outputs, clean);
            };
        }
        const TrainingModes modes {isBefore(step, m_settings.freezeObservers),
                                   isBefore(step, m_settings.freezeBatchNorms), m_saturation};
        QS_TRY(const TrainingGradients found,
               m_pass->differentiate(batch.inputs, lossOf, modes, m_job));
        if (!std::isfinite(found.loss))
            return fail(makeError(ErrorCode::Numeric,
                                  "the loss is not finite at step " + std::to_string(step))
                            .withHint("a lower --lr"));
        if (step == 1)
            noteUntrained(found);
        QS_CHECK(guardTorch([&]() -> Result<void> {
            m_optimizer->step(m_state->learned(), found.of, rateFactor(step));
            m_state->holdScales();
            return {};
        }));
        m_lossSum += found.loss;
        m_lossSteps += 1;
        m_job.report("train",
                     "step " + std::to_string(step) + " of " + std::to_string(m_settings.steps),
                     double(step) / m_settings.steps);
        return {};
    }

    const TrainingTask& m_task;
    const TrainingGraph& m_graph;
    const TrainingSettings& m_settings;
    const TrainingStore& m_store;
    const SeeTraining& m_see;
    const JobContext& m_job;
    at::Device m_device;
    std::optional<TrainingBatches> m_batches;
    std::optional<TrainingState> m_state;
    std::optional<TrainingPass> m_pass;
    std::optional<Teacher> m_teacher;
    std::optional<Optimizer> m_optimizer;
    Training m_made;
    std::vector<at::Tensor> m_best; ///< snapshot
    std::map<std::int64_t, std::int64_t> m_guardSamples; ///< by batch
    std::set<std::int64_t> m_seen; ///< batches trained on
    double m_lossSum = 0;
    int m_lossSteps = 0;
    std::vector<std::int64_t> m_left; ///< batches of this pass over the data, the next one last
    std::mt19937_64 m_random;
    Saturation m_saturation = Saturation::Observer;
    double m_savedAt = 0; ///< seconds
    bool m_hasRun = false; ///< a step, in this process
    std::chrono::steady_clock::time_point m_begin;
};

} // namespace

const PlannedObserver* needingCalibration(const Plan& plan, bool learnsScales)
{
    const auto found
        = std::find_if(plan.observers.begin(), plan.observers.end(), [&](const auto& planned) {
              return needsCalibration(planned, learnsScales);
          });
    return found == plan.observers.end() ? nullptr : &*found;
}

Result<Training> train(const TrainingTask& task, const TrainingSettings& settings,
                       const TrainingStore& store, const SeeTraining& see, const JobContext& job)
{
    const InferenceScope scope;
    return guardTorchValue<Training>(
        [&] { return Trainer(task, settings, store, see, job).run(); });
}

} // namespace qs
