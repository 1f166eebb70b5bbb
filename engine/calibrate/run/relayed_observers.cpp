// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/run/relayed_observers.h"

#include "engine/calibrate/observers/counting_observer.h"
#include "engine/calibrate/run/packed_stats.h"
#include "engine/graph/operators/engine_ops.h"

namespace qs {

namespace {

/// How often each observer's node runs in a batch; 0 if it is inside another node.
void countCalls(const Graph& graph, bool isInside, std::unordered_map<ObserverId, int>& calls)
{
    for (const NodePtr& node : graph.nodes()) {
        if (node->isOp(kObserveTarget)) {
            const auto [known, isNew] = calls.try_emplace(node->observer, isInside ? 0 : 1);
            if (!isNew)
                known->second = isInside || known->second == 0 ? 0 : known->second + 1;
        }
        for (const GraphPtr& body : node->subgraphs)
            countCalls(*body, true, calls);
    }
}

} // namespace

RelayedObservers::RelayedObservers(Relay& relay, const PreparedModel& prepared,
                                   ObserverTable& observers, Seen seen)
    : m_relay(relay)
    , m_observers(observers)
    , m_seen(std::move(seen))
{
    std::unordered_map<ObserverId, int> calls;
    if (relay.isActive())
        countCalls(*prepared.graph, false, calls);
    for (const auto& [id, count] : calls)
        if (observers.contains(id) && !prepared.observedWeight.contains(id))
            m_relayed[id].calls = count;
}

void RelayedObservers::begin(std::int64_t batch)
{
    m_relay.begin(batch);
    for (auto& [id, one] : m_relayed) {
        one.left = one.calls;
        one.isTaken = one.isPassed = false;
    }
}

Result<void> RelayedObservers::before(const Node& node, const JobContext& job)
{
    const auto found = m_relayed.find(node.observer);
    return found == m_relayed.end() ? Result<void>() : take(found->first, found->second, job);
}

Result<void> RelayedObservers::after(const Node& node)
{
    const auto found = m_relayed.find(node.observer);
    if (found == m_relayed.end() || --found->second.left != 0)
        return {};
    return pass(found->first, found->second);
}

Result<void> RelayedObservers::take(ObserverId id, Relayed& one, const JobContext& job)
{
    if (one.isTaken)
        return {};
    QS_TRY(const auto state, m_relay.take(Relay::Slot(id.value()), job));
    one.isTaken = true;
    return state ? restore(id, *state) : Result<void>();
}

Result<void> RelayedObservers::restore(ObserverId id, const std::string& bytes)
{
    Observer& observer = *m_observers.at(id);
    ObserverStats stats = observer.soFar();
    QS_CHECK(unpackStats(bytes, stats));
    observer.restore(std::move(stats));
    if (auto* counting = dynamic_cast<CountingObserver*>(&observer))
        counting->restartQueue();
    return {};
}

Result<void> RelayedObservers::pass(ObserverId id, Relayed& one)
{
    Observer& observer = *m_observers.at(id);
    m_seen(observer);
    const ObserverStats stats = observer.stats();
    one.isPassed = true;
    // The next rank saw a batch after this one's batch before, and so knows what that one left.
    const std::size_t from = std::exchange(one.known, stats.batchMin.size());
    return m_relay.pass(Relay::Slot(id.value()), packStats(stats, from));
}

Result<void> RelayedObservers::end(const JobContext& job)
{
    for (auto& [id, one] : m_relayed) {
        QS_CHECK(take(id, one, job));
        if (!one.isPassed)
            QS_CHECK(pass(id, one));
    }
    return m_relay.end();
}

Result<void> RelayedObservers::adopt(const Relay::States& states)
{
    for (const auto& [slot, bytes] : states)
        if (const ObserverId id {std::uint32_t(slot)}; m_relayed.contains(id))
            QS_CHECK(restore(id, bytes));
    return {};
}

} // namespace qs
