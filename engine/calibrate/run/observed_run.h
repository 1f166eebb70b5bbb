// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"
#include "engine/calibrate/device_observation_queue.h"
#include "engine/calibrate/non_finite.h"
#include "engine/calibrate/observation_cache.h"
#include "engine/calibrate/observed_shapes.h"
#include "engine/calibrate/run/relayed_observers.h"
#include "engine/execute/interpreter.h"

#include <vector>

namespace qs {

/// Findings of a run in addition to the statistics.
struct RunFindings
{
    RecordedShapes shapes; ///< compared with every value
    std::vector<NonFiniteValue> nonFinite; ///< non-finite values of the failing batch
};

/// The observers of a plan and the run that feeds them, batch by batch. Borrows the prepared model,
/// the findings, which may be null, and the relay. One thread.
class ObservedRun
{
public:
    /// `seen`: as in `RelayedObservers`.
    ObservedRun(const PreparedModel& prepared, Interpreter interpreter, bool isSequence,
                RunFindings* findings);

    /// Hands the statistics of this run's observers from rank to rank. Call before the first batch.
    void relayBy(Relay& relay, RelayedObservers::Seen seen);

    /// Fails for a weight that holds NaN or Inf.
    Result<void> observeWeights(const JobContext& job);
    void restore(std::vector<ObserverStats> stats);
    /// Fails early if the memory does not suffice for such a batch.
    Result<void> checkMemory(const Batch& batch) const;
    /// Runs one batch; `number` counts from 1.
    Result<void> runBatch(const Batch& batch, std::int64_t number, const JobContext& job);
    /// True if the device's results should be collected now: a sequence keeps its states for one
    /// batch only.
    bool settlesNow() const { return m_isSequence || m_queue.isFull(); }
    /// Collects the device's results.
    Result<void> settle(const Dataset& data);

    RelayedObservers* relayed() { return m_relayed.get(); } ///< null in a single process
    Observer* tryGet(ObserverId id) const;
    std::vector<ObserverStats> stats() const;

private:
    std::vector<at::IValue> onDevice(const Batch& batch) const;
    Result<void> notFinite(const Batch& batch, const std::vector<at::IValue>& inputs,
                           const std::vector<DeviceObservationQueue::Place>& places) const;
    Result<void> see(ValueRef ref, const Node& node, const at::IValue& value,
                     std::vector<DeviceObservationQueue::Place>& bad);
    Result<void> observe(ValueRef ref, const Node& node, const at::Tensor& value,
                         std::vector<DeviceObservationQueue::Place>& bad);
    Result<void> passQueued(std::vector<DeviceObservationQueue::Place>& bad);
    Result<void> checkType(const Node& observer, const at::Tensor& value) const;
    NodeId badOutput(const std::vector<at::IValue>& outputs);

    const PreparedModel& m_prepared;
    Interpreter m_interpreter;
    bool m_isSequence;
    RunFindings* m_findings; ///< may be null
    ObservationCache m_cache;
    ModelState m_state; ///< state of a sequence after the last batch
    ModelState m_before; ///< state before the last batch
    std::int64_t m_batch = 0; ///< 1-based
    JobContext m_job; ///< of the batch
    DeviceObservationQueue m_queue; ///< used on a device
    ObserverTable m_observers;
    std::unique_ptr<RelayedObservers> m_relayed; ///< null in a single process
    std::vector<const Node*> m_queued; ///< observer nodes to pass on once the device is done
};

} // namespace qs
