// SPDX-License-Identifier: Apache-2.0
#include "engine/train/trainer.h"

#include "engine/base/text.h"
#include "engine/base/torch_guard.h"
#include "engine/execute/interpreter.h"
#include "engine/train/trained_model.h"
#include "engine/train/training_pass.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numbers>
#include <random>
#include <set>
#include <utility>

namespace qs {

namespace {

constexpr std::int64_t kGuardEvery = 4; ///< every fourth batch is the guard's
constexpr int kMeasurements = 20; ///< about, over a training
constexpr double kUsualRate = 1.0 / 500; ///< of the root mean square of a tensor
constexpr double kMostDb = 200;
constexpr std::size_t kMostTeacherBytes = std::size_t(512) << 20;

std::size_t bytesOf(const std::vector<at::Tensor>& tensors)
{
    std::size_t bytes = 0;
    for (const at::Tensor& tensor : tensors)
        bytes += tensor.defined() ? tensor.nbytes() : 0;
    return bytes;
}

/// The float model's outputs for batches; keeps them within a limit.
class Teacher
{
public:
    explicit Teacher(Interpreter interpreter)
        : m_interpreter(std::move(interpreter))
    {
    }

    Result<std::vector<at::Tensor>>
    outputs(std::int64_t number, const std::vector<at::IValue>& inputs, const JobContext& job)
    {
        if (const auto kept = m_kept.find(number); kept != m_kept.end())
            return kept->second;
        QS_TRY(const auto values, m_interpreter.run(inputs, {}, job));
        std::vector<at::Tensor> outputs;
        for (const at::IValue& value : values)
            outputs.push_back(value.isTensor() && value.toTensor().is_floating_point()
                                  ? value.toTensor()
                                  : at::Tensor());
        if (m_bytes + bytesOf(outputs) <= kMostTeacherBytes) {
            m_bytes += bytesOf(outputs);
            m_kept.emplace(number, outputs);
        }
        return outputs;
    }

private:
    Interpreter m_interpreter;
    std::unordered_map<std::int64_t, std::vector<at::Tensor>> m_kept;
    std::size_t m_bytes = 0;
};

/// Noise and signal of each output, summed over batches.
class GuardSums
{
public:
    void add(const std::vector<at::Tensor>& noisy, const std::vector<at::Tensor>& clean)
    {
        m_noise.resize(clean.size());
        m_signal.resize(clean.size());
        for (std::size_t i = 0; i < clean.size() && i < noisy.size(); ++i) {
            if (!clean[i].defined() || !noisy[i].defined())
                continue;
            const at::Tensor signal = clean[i].to(at::kDouble);
            m_noise[i] += (noisy[i].to(at::kDouble) - signal).square().sum().item<double>();
            m_signal[i] += signal.square().sum().item<double>();
        }
    }

    /// SQNR of the worst output that has a signal.
    double db() const
    {
        double worst = kMostDb;
        for (std::size_t i = 0; i < m_signal.size(); ++i)
            if (m_signal[i] > 0)
                worst = std::min(
                    worst, m_noise[i] > 0 ? 10 * std::log10(m_signal[i] / m_noise[i]) : kMostDb);
        return std::isfinite(worst) ? worst : -kMostDb;
    }

private:
    std::vector<double> m_noise, m_signal;
};

at::Tensor distillLoss(std::span<const at::Tensor> outputs, const std::vector<at::Tensor>& clean)
{
    at::Tensor loss;
    for (std::size_t i = 0; i < outputs.size() && i < clean.size(); ++i) {
        if (!outputs[i].defined() || !clean[i].defined())
            continue;
        const at::Tensor signal = clean[i].square().sum();
        if (signal.item<double>() <= 0)
            continue;
        const at::Tensor part = (outputs[i] - clean[i]).square().sum() / signal;
        loss = loss.defined() ? loss + part : part;
    }
    return loss;
}

at::Tensor labelLoss(std::span<const at::Tensor> outputs, const at::Tensor& labels)
{
    for (const at::Tensor& output : outputs)
        if (output.defined() && output.dim() == 2 && output.size(0) == labels.size(0))
            return at::cross_entropy_loss(output, labels);
    return {};
}

class Trainer
{
public:
    Trainer(const TrainingGraph& graph, const Dataset& data, const TrainingSettings& settings,
            const SeeTraining& see, const JobContext& job)
        : m_graph(graph)
        , m_data(data)
        , m_settings(settings)
        , m_see(see)
        , m_job(job)
        , m_device(settings.device)
    {
    }

    Result<Training> run(const GraphPtr& model, const Observations* start)
    {
        QS_CHECK(chooseBatches());
        QS_TRY(m_state,
               TrainingState::create(m_graph, {start, m_settings.learnsScales, m_settings.frozen},
                                     m_device));
        QS_TRY(TrainingPass pass, TrainingPass::create(m_graph, *m_state, m_device, m_job));
        m_pass.emplace(std::move(pass));
        QS_TRY(Interpreter teacher, Interpreter::create(model, {.device = m_device}, m_job));
        m_teacher.emplace(std::move(teacher));
        m_optimizer.emplace(m_settings.optimizer, rates(), m_settings.momentum);
        m_begin = std::chrono::steady_clock::now();
        if (start)
            QS_CHECK(measure(0));
        QS_CHECK(runSteps());
        if (!m_best.empty())
            m_state->restore(m_best);
        const int step = m_made.points.empty() ? 0 : m_made.points[m_made.best].step;
        m_made.model = trainedModel(m_graph, *m_state, isBefore(step, m_settings.freezeObservers));
        return std::move(m_made);
    }

private:
    Result<void> chooseBatches()
    {
        const std::int64_t count = m_data.batchCount();
        for (std::int64_t i = 0; i < count; ++i)
            (m_settings.needsGuard && i % kGuardEvery == kGuardEvery - 1 ? m_guard : m_trained)
                .push_back(i);
        if (m_settings.needsGuard && m_guard.empty())
            return fail(makeError(ErrorCode::BadInput,
                                  std::to_string(count) + (count == 1 ? " batch" : " batches")
                                      + " of data: no guard, which needs 4 or more")
                            .withHint("give more samples, a smaller batch_size, or --no-guard"));
        if (m_trained.empty())
            return fail(ErrorCode::BadInput, "the data hold no batch");
        if (m_settings.loss == TrainingLoss::Labels && !m_data.hasLabels())
            return fail(makeError(ErrorCode::BadInput, "the data have no labels to train by")
                            .withHint("--loss distill needs none"));
        return {};
    }

    std::vector<double> rates() const
    {
        std::vector<double> rates;
        for (const at::Tensor& tensor : m_state->learned()) {
            const double size = tensor.detach().square().mean().sqrt().item<double>();
            rates.push_back(m_settings.rate ? *m_settings.rate : kUsualRate * std::max(size, 1e-3));
        }
        return rates;
    }

    double seconds() const
    {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_begin).count();
    }

    Result<std::pair<Batch, std::vector<at::IValue>>> read(std::int64_t number) const
    {
        QS_TRY(Batch batch, m_data.batch(number));
        for (const auto& error : batch.notFinite)
            if (error)
                return fail(*error);
        std::vector<at::IValue> inputs = batch.inputs;
        for (at::IValue& input : inputs)
            if (input.isTensor())
                input = input.toTensor().to(m_device);
        return std::pair(std::move(batch), std::move(inputs));
    }

    /// Measures the guard; keeps the state if it is the best.
    Result<void> measure(int step)
    {
        TrainingPoint point {step, m_lossSteps > 0 ? m_lossSum / m_lossSteps : 0, {}, 0};
        m_lossSum = 0;
        m_lossSteps = 0;
        if (!m_guard.empty()) {
            GuardSums sums;
            for (const std::int64_t number : m_guard) {
                QS_TRY(const auto batch, read(number));
                QS_TRY(const auto clean, m_teacher->outputs(number, batch.second, m_job));
                QS_TRY(const auto noisy, m_pass->outputs(batch.second, m_job));
                sums.add(noisy, clean);
                m_guardSamples[number] = batch.first.samples;
            }
            point.guardDb = sums.db();
        }
        point.seconds = seconds();
        const auto& points = m_made.points;
        const bool isBest
            = points.empty() || m_guard.empty() || *point.guardDb > *points[m_made.best].guardDb;
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
        std::vector<std::int64_t> order = m_trained;
        if (m_settings.seed != 0)
            for (std::size_t i = order.size(); i > 1; --i)
                std::swap(order[i - 1], order[m_random() % i]);
        return order;
    }

    Result<void> runSteps()
    {
        m_random.seed(m_settings.seed);
        const int every = std::max(1, m_settings.steps / kMeasurements);
        std::vector<std::int64_t> left;
        m_made.stopped = "all steps";
        for (int step = 1; step <= m_settings.steps; ++step) {
            if (left.empty()) {
                left = order();
                std::reverse(left.begin(), left.end());
            }
            auto ran = runStep(step, left.back());
            left.pop_back();
            if (!ran && isCancel(ran.error()))
                return {};
            QS_CHECK(ran);
            m_made.steps = step;
            const bool isLate = m_settings.seconds && seconds() >= *m_settings.seconds;
            if (step % every == 0 || step == m_settings.steps || isLate) {
                auto measured = measure(step);
                if (!measured && isCancel(measured.error()))
                    return {};
                QS_CHECK(measured);
            }
            if (isLate && step < m_settings.steps) {
                m_made.stopped = "the time is used up";
                break;
            }
        }
        return {};
    }

    /// Whether the error is a cancel after something was trained and measured.
    bool isCancel(const Error& error)
    {
        if (error.code != ErrorCode::Cancelled || m_made.points.empty() || m_made.steps == 0)
            return false;
        m_made.stopped = "cancelled";
        return true;
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
        QS_TRY(const auto batch, read(number));
        if (m_seen.insert(number).second)
            m_made.trainedSamples += batch.first.samples;
        LossOf lossOf;
        if (m_settings.loss == TrainingLoss::Labels) {
            const at::Tensor labels = batch.first.labels.to(m_device);
            lossOf = [labels](std::span<const at::Tensor> outputs) {
                return labelLoss(outputs, labels);
            };
        } else {
            QS_TRY(const auto clean, m_teacher->outputs(number, batch.second, m_job));
            lossOf = [clean](std::span<const at::Tensor> outputs) {
                return distillLoss(outputs, clean);
            };
        }
        const TrainingModes modes {isBefore(step, m_settings.freezeObservers),
                                   isBefore(step, m_settings.freezeBatchNorms)};
        QS_TRY(const TrainingGradients found,
               m_pass->differentiate(batch.second, lossOf, modes, m_job));
        if (!std::isfinite(found.loss))
            return fail(makeError(ErrorCode::Numeric,
                                  "the loss is not finite at step " + std::to_string(step))
                            .withHint("a lower --lr"));
        m_lossSum += found.loss;
        m_lossSteps += 1;
        m_job.report("train",
                     "step " + std::to_string(step) + " of " + std::to_string(m_settings.steps),
                     double(step) / m_settings.steps);
        return guardTorch([&]() -> Result<void> {
            const std::vector<at::Tensor> learned = m_state->learned();
            m_optimizer->step(learned, found.of, rateFactor(step));
            m_state->holdScales();
            return {};
        });
    }

    const TrainingGraph& m_graph;
    const Dataset& m_data;
    const TrainingSettings& m_settings;
    const SeeTraining& m_see;
    const JobContext& m_job;
    at::Device m_device;
    std::vector<std::int64_t> m_trained, m_guard; ///< batches
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
    std::mt19937_64 m_random;
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

Result<Training> train(const TrainingGraph& graph, const GraphPtr& teacher, const Dataset& data,
                       const Observations* start, const TrainingSettings& settings,
                       const SeeTraining& see, const JobContext& job)
{
    const InferenceScope scope;
    return guardTorchValue<Training>(
        [&] { return Trainer(graph, data, settings, see, job).run(teacher, start); });
}

} // namespace qs
