// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/run/observed_run.h"

#include "engine/base/memory/memory_budget.h"
#include "engine/calibrate/given_stats.h"
#include "engine/calibrate/memory_estimate.h"
#include "engine/calibrate/observers/counting_observer.h"
#include "engine/calibrate/observers/observer_factory.h"
#include "engine/calibrate/traced_sizes.h"
#include "engine/execute/torch_types.h"
#include "engine/graph/operators/engine_ops.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Device.h>

namespace qs {

namespace {

/// Observations of a device after which ranks wait for it, so that others can continue.
constexpr std::size_t kPassedTogether = 8;

} // namespace

ObservedRun::ObservedRun(const PreparedModel& prepared, Interpreter interpreter, bool isSequence,
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

void ObservedRun::relayBy(Relay& relay, RelayedObservers::Seen seen)
{
    if (relay.isActive())
        m_relayed
            = std::make_unique<RelayedObservers>(relay, m_prepared, m_observers, std::move(seen));
}

Result<void> ObservedRun::observeWeights(const JobContext& job)
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

void ObservedRun::restore(std::vector<ObserverStats> stats)
{
    for (ObserverStats& one : stats) {
        Observer& observer = *m_observers.at(one.id);
        observer.restore(std::move(one));
    }
}

Result<void> ObservedRun::checkMemory(const Batch& batch) const
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

Result<void> ObservedRun::runBatch(const Batch& batch, std::int64_t number, const JobContext& job)
{
    QS_CHECK(checkObservedInputs(*m_prepared.graph, batch));
    const auto inputs = onDevice(batch);
    std::vector<DeviceObservationQueue::Place> bad;
    m_batch = number;
    m_job = job;
    const Tap tap = [&](ValueRef ref, const Node& node, const at::IValue& value) {
        return see(ref, node, value, bad);
    };
    m_before = m_state;
    m_cache.forget();
    m_queued.clear();
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
    if (m_relayed)
        QS_CHECK(passQueued(bad));
    return bad.empty() ? Result<void>() : notFinite(batch, inputs, bad);
}

Result<void> ObservedRun::settle(const Dataset& data)
{
    const auto bad = m_queue.settle();
    if (bad.empty())
        return {};
    QS_TRY(const Batch batch, data.batch(bad.front().batch - 1));
    return notFinite(batch, onDevice(batch), bad);
}

Observer* ObservedRun::tryGet(ObserverId id) const
{
    const auto found = m_observers.find(id);
    return found == m_observers.end() ? nullptr : found->second.get();
}

std::vector<ObserverStats> ObservedRun::stats() const
{
    std::vector<ObserverStats> out;
    for (const auto& planned : m_prepared.plan->observers)
        out.push_back(m_observers.at(planned.id)->stats());
    return out;
}

/// Copies the batch to a device asynchronously, if it lies in pinned memory.
std::vector<at::IValue> ObservedRun::onDevice(const Batch& batch) const
{
    const at::Device device = m_interpreter.device();
    std::vector<at::IValue> out = batch.inputs;
    for (auto& input : out)
        if (input.isTensor() && !device.is_cpu())
            input = input.toTensor().to(device, /*non_blocking=*/true);
    return out;
}

Result<void> ObservedRun::notFinite(const Batch& batch, const std::vector<at::IValue>& inputs,
                                    const std::vector<DeviceObservationQueue::Place>& places) const
{
    NonFinite found = findNonFinite(m_prepared, m_interpreter, batch, inputs, places, m_before);
    if (m_findings)
        m_findings->nonFinite = std::move(found.values);
    return fail(std::move(found.error));
}

/// Continues after NaN and Inf, so that one run finds all of a batch.
Result<void> ObservedRun::see(ValueRef ref, const Node& node, const at::IValue& value,
                              std::vector<DeviceObservationQueue::Place>& bad)
{
    if (m_findings)
        m_findings->shapes.see(node, ref.index, value);
    if (!node.isOp(kObserveTarget) || !value.isTensor())
        return {};
    if (!m_observers.contains(node.observer))
        return fail(
            makeError(ErrorCode::Internal, "no such observer in the plan").atNode(node.name));
    QS_CHECK(checkType(node, value.toTensor()));
    if (!m_relayed)
        return observe(ref, node, value.toTensor(), bad);
    QS_CHECK(m_relayed->before(node, m_job));
    return observe(ref, node, value.toTensor(), bad);
}

Result<void> ObservedRun::observe(ValueRef ref, const Node& node, const at::Tensor& value,
                                  std::vector<DeviceObservationQueue::Place>& bad)
{
    Observer& observer = *m_observers.at(node.observer);
    auto* counting = dynamic_cast<CountingObserver*>(&observer);
    if (counting && !value.is_cpu() && value.numel() > 0) {
        m_queue.add(*counting, value, {ref.node, m_batch});
        if (!m_relayed)
            return {};
        m_queued.push_back(&node);
        return m_queued.size() < kPassedTogether ? Result<void>() : passQueued(bad);
    }
    if (m_cache.observe(observer, node, value) > 0)
        bad.push_back({ref.node, m_batch});
    return m_relayed ? m_relayed->after(node) : Result<void>();
}

/// Waits for the device, then passes on what it observed.
Result<void> ObservedRun::passQueued(std::vector<DeviceObservationQueue::Place>& bad)
{
    for (const DeviceObservationQueue::Place& place : m_queue.settle())
        bad.push_back(place);
    for (const Node* node : std::exchange(m_queued, {}))
        QS_CHECK(m_relayed->after(*node));
    return {};
}

/// If a file does not record a value's type, the plan assumes float32.
Result<void> ObservedRun::checkType(const Node& observer, const at::Tensor& value) const
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

/// Returns the Output node if one of the model's outputs is not finite. On a device, queues the
/// check instead.
NodeId ObservedRun::badOutput(const std::vector<at::IValue>& outputs)
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

} // namespace qs
