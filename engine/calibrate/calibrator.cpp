// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/calibrator.h"

#include "engine/base/freed_memory.h"
#include "engine/base/torch_guard.h"
#include "engine/calibrate/device_scope.h"
#include "engine/calibrate/non_finite.h"
#include "engine/calibrate/observer_factory.h"
#include "engine/execute/interpreter.h"

#include <ATen/Parallel.h>
#include <c10/core/Device.h>

#include <unordered_map>

namespace qs {

namespace {

// The observers of a plan and the run that feeds them.
class Calibration
{
public:
    Calibration(const PreparedModel& prepared, Interpreter interpreter, bool isSequence)
        : m_prepared(prepared)
        , m_interpreter(std::move(interpreter))
        , m_isSequence(isSequence)
    {
        for (const auto& planned : prepared.plan->observers)
            m_observers[planned.id] = makeObserver(planned.id, planned.spec);
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

    // Runs one batch; `number` counts from 1.
    Result<void> runBatch(Batch batch, std::int64_t number, const JobContext& job)
    {
        std::vector<at::IValue> inputs;
        for (const auto& input : batch.inputs)
            inputs.push_back(input.isTensor() ? input.toTensor().to(m_interpreter.device())
                                              : input);
        NodeId bad;
        const Tap tap = [&](ValueRef ref, const Node& node, const at::IValue& value) {
            return see(ref, node, value, bad);
        };
        const ModelState before = m_state;
        auto outputs = m_interpreter.run(inputs, tap, job, m_isSequence ? &m_state : nullptr);
        if (!outputs && !bad)
            return fail(std::move(outputs).error());
        if (outputs)
            bad = badOutput(*outputs);
        if (!bad)
            return {};
        const Node& node
            = m_prepared.graph->get(firstNonFinite(m_interpreter, inputs, bad, before));
        return fail(
            makeError(ErrorCode::Numeric, "NaN or Inf appears in batch " + std::to_string(number))
                .atNode(node.name)
                .withHint("look at the data of that batch and at " + node.target));
    }

    std::vector<ObserverStats> stats() const
    {
        std::vector<ObserverStats> out;
        for (const auto& planned : m_prepared.plan->observers)
            out.push_back(m_observers.at(planned.id)->stats());
        return out;
    }

private:
    Result<void> see(ValueRef ref, const Node& node, const at::IValue& value, NodeId& bad)
    {
        if (!node.isOp(kObserveTarget) || !value.isTensor())
            return {};
        const auto found = m_observers.find(node.observer);
        if (found == m_observers.end())
            return fail(
                makeError(ErrorCode::Internal, "no such observer in the plan").atNode(node.name));
        if (found->second->observe(value.toTensor()) == 0)
            return {};
        bad = ref.node;
        return fail(ErrorCode::Numeric, "not finite");
    }

    // The Output node when one of the model's outputs is not finite.
    NodeId badOutput(const std::vector<at::IValue>& outputs) const
    {
        for (const auto& output : outputs)
            if (holdsNonFinite(output))
                return m_prepared.graph->output().id;
        return {};
    }

    const PreparedModel& m_prepared;
    Interpreter m_interpreter;
    bool m_isSequence;
    ModelState m_state; ///< of a sequence: what the last batch left
    std::unordered_map<ObserverId, std::unique_ptr<Observer>> m_observers;
};

Result<ObservationsPtr> runCalibration(const PreparedModel& prepared, const Dataset& data,
                                       const std::string& device, const JobContext& job)
{
    const InferenceScope inference;
    const DeviceScope deterministic;
    QS_TRY(Interpreter interpreter, Interpreter::create(prepared.graph, at::Device(device)));
    Calibration calibration(prepared, std::move(interpreter), data.isSequence());
    QS_CHECK(calibration.observeWeights(job));
    auto out = std::make_shared<Observations>();
    const std::int64_t batches = data.batchCount();
    for (std::int64_t i = 0; i < batches; ++i) {
        QS_CHECK(job.check());
        job.report("calibrate", "batch " + std::to_string(i + 1) + " of " + std::to_string(batches),
                   double(i) / double(batches));
        QS_TRY(Batch batch, data.batch(i));
        out->samples += batch.samples;
        QS_CHECK(calibration.runBatch(std::move(batch), i + 1, job));
    }
    job.report("calibrate", "done", 1.0);
    out->batches = batches;
    out->device = device;
    out->threads = at::get_num_threads();
    out->observers = calibration.stats();
    return out;
}

} // namespace

Result<ObservationsPtr> calibrate(const PreparedModel& prepared, const Dataset& data,
                                  const std::string& device, const JobContext& job)
{
    auto observations = guardTorchValue<ObservationsPtr>(
        [&] { return runCalibration(prepared, data, device, job); });
    returnFreedMemory();
    return observations;
}

} // namespace qs
