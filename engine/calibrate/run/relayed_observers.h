// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observers/observer.h"
#include "engine/distribute/relay.h"
#include "engine/prepare/prepared_model.h"

#include <functional>
#include <memory>
#include <unordered_map>
#include <unordered_set>

namespace qs {

using ObserverTable = std::unordered_map<ObserverId, std::unique_ptr<Observer>>;

/// Takes the statistics of observers of activations over from the batch before, and passes them on
/// to the next (`Relay`). Observers of weights are not relayed: every rank observes these. Borrows
/// all arguments. One thread.
class RelayedObservers
{
public:
    /// `seen` is called with an observer after its last observation in a batch, before its
    /// statistics are passed on.
    using Seen = std::function<void(Observer&)>;
    RelayedObservers(Relay& relay, const PreparedModel& prepared, ObserverTable& observers,
                     Seen seen);

    void begin(std::int64_t batch);
    /// Call before an observer node's observation.
    Result<void> before(const Node& node, const JobContext& job);
    /// Call once the observation is in the observer.
    Result<void> after(const Node& node);
    /// Passes on what did not run in this batch, or runs any number of times, and ends the batch.
    Result<void> end(const JobContext& job);
    /// Takes the statistics after the last batch (of `Relay::finish`).
    Result<void> adopt(const Relay::States& states);

private:
    struct Relayed
    {
        int calls = 0; ///< observations in a batch; 0: not known before its end
        int left = 0; ///< of them, in this batch
        bool isTaken = false, isPassed = false;
        std::size_t known = 0; ///< extremes by call after this rank's batch before
    };
    Result<void> take(ObserverId id, Relayed& one, const JobContext& job);
    Result<void> pass(ObserverId id, Relayed& one);
    Result<void> restore(ObserverId id, const std::string& bytes);

    Relay& m_relay;
    ObserverTable& m_observers;
    Seen m_seen;
    std::map<ObserverId, Relayed> m_relayed;
};

} // namespace qs
