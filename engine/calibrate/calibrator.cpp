// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/calibrator.h"

#include "engine/base/log.h"
#include "engine/base/memory/freed_memory.h"
#include "engine/base/memory/memory_budget.h"
#include "engine/base/torch_guard.h"
#include "engine/calibrate/checkpoint.h"
#include "engine/calibrate/convergence/range_recorder.h"
#include "engine/calibrate/data/batch_reader.h"
#include "engine/calibrate/data/input_variety.h"
#include "engine/calibrate/device_observation_queue.h"
#include "engine/calibrate/given_stats.h"
#include "engine/calibrate/memory_estimate.h"
#include "engine/calibrate/observation_cache.h"
#include "engine/calibrate/observers/observer_factory.h"
#include "engine/calibrate/observers/saved_states.h"
#include "engine/calibrate/traced_sizes.h"
#include "engine/execute/interpreter.h"
#include "engine/execute/torch_types.h"
#include "engine/graph/operators/engine_ops.h"

#include <ATen/Parallel.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Device.h>

#include <chrono>
#include <unordered_map>

namespace qs {

namespace {

// The observers of a plan and the run that feeds them.
class Calibration
{
public:
    Calibration(const PreparedModel& prepared, Interpreter interpreter, bool isSequence,
                RunFindings* findings)
        : m_prepared(prepared)
        , m_interpreter(std::move(interpreter))
        , m_isSequence(isSequence)
        , m_findings(findings)
        , m_cache(*prepared.graph)
    {
        for (const auto& planned : prepared.plan->observers) {
            m_observers[planned.id] = makeObserver(planned.id, planned.spec);
            if (auto start = givenStart(*prepared.model, planned))
                m_observers[planned.id]->restore(std::move(*start));
        }
    }

    Result<void> observeWeights(const JobContext& job)
    {
        for (const auto& planned : m_prepared.plan->observers) {
            const auto found = m_prepared.observedWeight.find(planned.id);
            if (found == m_prepared.observedWeight.end())
                continue;
            QS_CHECK(job.check());
            QS_TRY(const at::IValue weight, m_interpreter.constant(found->second));
            if (!weight.isTensor())
                continue;
            const Node& node = m_prepared.graph->get(found->second.node);
            if (m_observers.at(planned.id)->observe(weight.toTensor()) > 0)
                return fail(
                    makeError(ErrorCode::Numeric, "the weight holds NaN or Inf").atNode(node.name));
        }
        return {};
    }

    void restore(std::vector<ObserverStats> stats)
    {
        for (ObserverStats& one : stats) {
            Observer& observer = *m_observers.at(one.id);
            observer.restore(std::move(one));
        }
    }

    // Fails early if the memory does not suffice for such a batch.
    Result<void> checkMemory(const Batch& batch) const
    {
        const at::Device device = m_interpreter.device();
        if (device.is_cpu())
            return checkFitsHere(estimateMemory(*m_prepared.graph, batch.inputs), mainMemoryLeft(),
                                 batch.samples);
        const auto [free, total]
            = c10::getDeviceAllocator(device.type())->getMemoryInfo(device.index());
        return checkFits(estimateMemory(*m_prepared.graph, batch.inputs), std::int64_t(free),
                         batch.samples, device.str());
    }

    // Runs one batch; `number` counts from 1.
    Result<void> runBatch(const Batch& batch, std::int64_t number, const JobContext& job)
    {
        QS_CHECK(checkObservedInputs(*m_prepared.graph, batch));
        const auto inputs = onDevice(batch);
        std::vector<DeviceObservationQueue::Place> bad;
        m_batch = number;
        const Tap tap = [&](ValueRef ref, const Node& node, const at::IValue& value) {
            return see(ref, node, value, bad);
        };
        m_before = m_state;
        m_cache.forget();
        if (m_findings)
            m_findings->shapes.begin(batch.samples);
        auto outputs = m_interpreter.run(inputs, tap, job, m_isSequence ? &m_state : nullptr);
        const bool isCancelled = !outputs && outputs.error().code == ErrorCode::Cancelled;
        if (!outputs && (bad.empty() || isCancelled)) {
            Error error = std::move(outputs).error();
            if (!isCancelled)
                error.message += " (batch " + std::to_string(number) + ")";
            if (error.code == ErrorCode::Unsupported) // a property of the model, not of the batch
                error.file = m_prepared.graph->info().path;
            if (error.code == ErrorCode::BadInput)
                error = withTracedSizes(std::move(error), *m_prepared.graph, batch.inputs);
            return fail(std::move(error));
        }
        if (const NodeId output = bad.empty() ? badOutput(*outputs) : NodeId())
            bad.push_back({output, number});
        return bad.empty() ? Result<void>() : notFinite(batch, inputs, bad);
    }

    // True if the device's results should be collected now: a sequence keeps its states for one
    // batch only.
    bool settlesNow() const { return m_isSequence || m_queue.isFull(); }

    // Collects the device's results.
    Result<void> settle(const Dataset& data)
    {
        const auto bad = m_queue.settle();
        if (bad.empty())
            return {};
        QS_TRY(const Batch batch, data.batch(bad.front().batch - 1));
        return notFinite(batch, onDevice(batch), bad);
    }

    Observer* tryGet(ObserverId id) const
    {
        const auto found = m_observers.find(id);
        return found == m_observers.end() ? nullptr : found->second.get();
    }

    std::vector<ObserverStats> stats() const
    {
        std::vector<ObserverStats> out;
        for (const auto& planned : m_prepared.plan->observers)
            out.push_back(m_observers.at(planned.id)->stats());
        return out;
    }

private:
    // Copies the batch to a device asynchronously.
    std::vector<at::IValue> onDevice(const Batch& batch) const
    {
        const at::Device device = m_interpreter.device();
        std::vector<at::IValue> out = batch.inputs;
        for (auto& input : out)
            if (input.isTensor() && !device.is_cpu())
                input = input.toTensor().pin_memory().to(device, /*non_blocking=*/true);
        return out;
    }

    Result<void> notFinite(const Batch& batch, const std::vector<at::IValue>& inputs,
                           const std::vector<DeviceObservationQueue::Place>& places) const
    {
        NonFinite found = findNonFinite(m_prepared, m_interpreter, batch, inputs, places, m_before);
        if (m_findings)
            m_findings->nonFinite = std::move(found.values);
        return fail(std::move(found.error));
    }

    // Continues after NaN and Inf, so that one run finds all of a batch.
    Result<void> see(ValueRef ref, const Node& node, const at::IValue& value,
                     std::vector<DeviceObservationQueue::Place>& bad)
    {
        if (m_findings)
            m_findings->shapes.see(node, ref.index, value);
        if (!node.isOp(kObserveTarget) || !value.isTensor())
            return {};
        const auto found = m_observers.find(node.observer);
        if (found == m_observers.end())
            return fail(
                makeError(ErrorCode::Internal, "no such observer in the plan").atNode(node.name));
        QS_CHECK(checkType(node, value.toTensor()));
        auto* counting = dynamic_cast<CountingObserver*>(found->second.get());
        if (counting && !value.toTensor().is_cpu() && value.toTensor().numel() > 0) {
            m_queue.add(*counting, value.toTensor(), {ref.node, m_batch});
            return {};
        }
        if (m_cache.observe(*found->second, node, value.toTensor()) > 0)
            bad.push_back({ref.node, m_batch});
        return {};
    }

    // If a file does not record a value's type, the plan assumes float32.
    Result<void> checkType(const Node& observer, const at::Tensor& value) const
    {
        if (value.scalar_type() == at::kFloat)
            return {};
        const ValueRef* of = observer.args.at(0).value.asRef();
        const Node* maker = of ? m_prepared.graph->tryGet(of->node) : nullptr;
        const std::string type(dtypeName(fromScalarType(value.scalar_type())));
        return fail(makeError(ErrorCode::Unsupported,
                              "its value is " + type
                                  + ", which the file does not record; only float32 is quantized")
                        .atNode(maker ? maker->name : observer.name)
                        .withHint("keep what reads it float: a rule without a qconfig for its "
                                  "module or for its type of operator"));
    }

    // Returns the Output node if one of the model's outputs is not finite. On a device, queues the
    // check instead.
    NodeId badOutput(const std::vector<at::IValue>& outputs)
    {
        const NodeId node = m_prepared.graph->output().id;
        for (const auto& output : outputs) {
            if (mayBeNonFinite(output) && !output.toTensor().is_cpu())
                m_queue.addCheck(output.toTensor(), {node, m_batch});
            else if (holdsNonFinite(output))
                return node;
        }
        return {};
    }

    const PreparedModel& m_prepared;
    Interpreter m_interpreter;
    bool m_isSequence;
    RunFindings* m_findings; ///< may be null
    ObservationCache m_cache;
    ModelState m_state; ///< state of a sequence after the last batch
    ModelState m_before; ///< state before the last batch
    std::int64_t m_batch = 0; ///< 1-based
    DeviceObservationQueue m_queue; ///< used on a device
    std::unordered_map<ObserverId, std::unique_ptr<Observer>> m_observers;
};

// One calibration, from its first batch or the checkpoint of an earlier run to its last batch.
class CalibrationRun
{
public:
    CalibrationRun(Calibration calibration, const PreparedModel& prepared, const Dataset& data,
                   const Checkpoint* checkpoint, RangeRecorder* ranges)
        : m_calibration(std::move(calibration))
        , m_prepared(prepared)
        , m_data(data)
        , m_checkpoint(data.isSequence() ? nullptr : checkpoint)
        , m_ranges(ranges)
        , m_variety(*prepared.graph)
    {
    }

    Result<ObservationsPtr> run(const std::string& device, const JobContext& job)
    {
        m_seen.device = device;
        m_seen.threads = at::get_num_threads();
        const bool isWhole = !takeUp(*m_prepared.plan);
        if (isWhole)
            QS_CHECK(m_calibration.observeWeights(job));
        BatchReader reader(m_data, job, m_seen.batches);
        const std::int64_t batches = m_data.batchCount();
        const std::string all = " of " + std::to_string(batches);
        while (m_seen.batches < batches) {
            const std::int64_t number = m_seen.batches + 1;
            job.report("calibrate", "batch " + std::to_string(number) + all,
                       double(m_seen.batches) / double(batches));
            const auto done = runBatch(reader, number, job);
            if (!done && done.error().code == ErrorCode::Cancelled && m_kept.batches > 0)
                return fail(leave(done.error(), all));
            QS_CHECK(done);
            QS_CHECK(record(batches));
            if (m_checkpoint)
                QS_CHECK(keep());
        }
        QS_CHECK(m_calibration.settle(m_data));
        job.report("calibrate", "done", 1.0);
        if (isWhole) // else earlier batches are unknown
            m_variety.report();
        if (!m_data.isSequence())
            warnOfSavedStates(*m_prepared.graph);
        m_seen.observers = m_calibration.stats();
        return std::make_shared<Observations>(std::move(m_seen));
    }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds kKeepEvery {1}, kSaveEvery {10};

    bool takeUp(const Plan& plan)
    {
        auto earlier = m_checkpoint ? m_checkpoint->load(plan) : std::nullopt;
        if (!earlier || earlier->batches > m_data.batchCount())
            return false;
        m_seen.batches = earlier->batches;
        m_seen.samples = earlier->samples;
        m_calibration.restore(std::move(earlier->observers));
        note("calibration resumes after batch " + std::to_string(m_seen.batches) + ", from "
             + m_checkpoint->path());
        return true;
    }

    Result<void> runBatch(BatchReader& reader, std::int64_t number, const JobContext& job)
    {
        QS_CHECK(job.check());
        QS_TRY(Batch batch, reader.next());
        if (number == 1)
            QS_CHECK(m_calibration.checkMemory(batch));
        m_variety.see(batch);
        const std::int64_t samples = batch.samples;
        QS_CHECK(m_calibration.runBatch(batch, number, job));
        if (m_calibration.settlesNow())
            QS_CHECK(m_calibration.settle(m_data));
        m_seen.samples += samples;
        m_seen.batches = number;
        return {};
    }

    // Passes the ranges after a batch to the recorder.
    Result<void> record(std::int64_t allBatches)
    {
        const RangeRecorder::Amount amount {m_seen.batches, allBatches, m_seen.samples};
        if (!m_ranges || !m_ranges->isDue(amount))
            return {};
        QS_CHECK(m_calibration.settle(m_data));
        m_ranges->add(amount, m_prepared.plan,
                      [this](ObserverId id) { return m_calibration.tryGet(id); });
        return {};
    }

    // Keeps the statistics after a batch, and periodically in the file: cancelling within a batch
    // leaves observers in different states.
    Result<void> keep()
    {
        const auto now = Clock::now();
        if (now - m_keptAt < kKeepEvery)
            return {};
        QS_CHECK(m_calibration.settle(m_data));
        m_kept = m_seen;
        m_kept.observers = m_calibration.stats();
        m_keptAt = now;
        if (now - m_savedAt < kSaveEvery)
            return {};
        m_savedAt = now;
        return m_checkpoint->save(m_kept);
    }

    // Returns the cancelled run's error, with a note on the kept statistics.
    Error leave(Error cancelled, const std::string& all) const
    {
        if (const auto saved = m_checkpoint->save(m_kept); !saved)
            return saved.error();
        cancelled.message += " after batch " + std::to_string(m_kept.batches) + all;
        return std::move(cancelled).withHint("repeat the command to resume");
    }

    Calibration m_calibration;
    const PreparedModel& m_prepared;
    const Dataset& m_data;
    const Checkpoint* m_checkpoint;
    RangeRecorder* m_ranges; ///< may be null
    InputVariety m_variety;
    Observations m_seen, m_kept;
    Clock::time_point m_keptAt; ///< the first batch is kept immediately
    Clock::time_point m_savedAt = Clock::now();
};

Result<ObservationsPtr> runCalibration(const PreparedModel& prepared, const Dataset& data,
                                       const std::string& device, const JobContext& job,
                                       const Checkpoint* checkpoint, RunFindings* findings)
{
    const InferenceScope inference;
    QS_TRY(Interpreter interpreter,
           Interpreter::create(prepared.graph, {.device = at::Device(device)}, job));
    Calibration calibration(prepared, std::move(interpreter), data.isSequence(), findings);
    return CalibrationRun(std::move(calibration), prepared, data, checkpoint,
                          findings ? findings->ranges : nullptr)
        .run(device, job);
}

} // namespace

Result<ObservationsPtr> calibrate(const PreparedModel& prepared, const Dataset& data,
                                  const std::string& device, const JobContext& job,
                                  const Checkpoint* checkpoint, RunFindings* findings)
{
    auto observations = guardTorchValue<ObservationsPtr>(
        [&] { return runCalibration(prepared, data, device, job, checkpoint, findings); });
    returnFreedMemory();
    return observations;
}

} // namespace qs
