// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/distribute/group.h"

#include <chrono>
#include <map>
#include <optional>

namespace qs {

/// Deals batches to the ranks, batch b to rank b mod size, and hands what a stage adds up from the
/// rank of one batch to that of the next. So every state (a slot: an observer, a unit of a
/// comparison) meets the batches in their order, as in one process, and ends with the same bits.
///
/// A rank takes a slot when it first needs it in a batch and passes it on after its last use there;
/// while it works on other slots, the next rank works on this one. Ranks thus follow each other
/// through the model, and no rank waits as long as a batch takes at least `size` times as long as
/// the slowest slot. States leave in groups: when one is 10 ms old as another joins it, before a
/// wait, and at the end of the batch.
///
/// For a group of one it does nothing. One thread.
class Relay
{
public:
    using Slot = std::uint64_t;
    using States = std::map<Slot, std::string>;

    /// Runs batches from `first` to `end` - 1; names of messages start with `name`.
    Relay(Group& group, std::string name, std::int64_t first, std::int64_t end);

    /// This rank's first batch, and the distance to the next ones.
    std::int64_t firstOwn() const;
    std::int64_t stride() const { return m_group.size(); }
    bool isActive() const { return !m_group.isAlone(); }

    std::int64_t batch() const { return m_batch; } ///< the current one
    /// Begins a batch of this rank, before it is read.
    void begin(std::int64_t batch);
    /// Returns a slot's state after the batch before; nullopt at the first batch, to which the
    /// state at the start belongs. Waits. Errors: `Group::receive`'s; that with which an earlier
    /// batch failed.
    Result<std::optional<std::string>> take(Slot slot, const JobContext& job);
    /// Hands the slot's state to the next batch. Once a batch.
    Result<void> pass(Slot slot, std::string state);
    /// Ends the batch after all slots were passed.
    Result<void> end();

    /// Ends the run on every rank; call it in any case. `failure`: with which this rank's batch
    /// failed, or null; a cancel and a failure between batches return at once, and the group ends
    /// by `Group::fail`. Returns the states after the last batch. The failure of the earliest batch
    /// wins, as in one process, and is returned on every rank.
    /// `detail`: bytes of the stage's own about the failure, for `failureDetail`.
    Result<States> finish(const Error* failure, const JobContext& job,
                          const std::string& detail = {});
    /// What the rank of the failed batch left about it; after `finish` failed.
    const std::string& failureDetail() const { return m_detail; }

private:
    std::string nameOf(std::int64_t batch, std::int64_t part) const;
    Result<void> receivePart(const JobContext& job);
    Result<void> flush(bool isEnd);
    Result<void> drain(const JobContext& job);

    Group& m_group;
    std::string m_name;
    std::int64_t m_first, m_end;
    std::int64_t m_batch = -1; ///< the current one
    States m_received;
    std::int64_t m_partsReceived = 0, m_partsSent = 0;
    bool m_isAllReceived = false; ///< of the batch before
    bool m_isEnded = true; ///< the current batch was passed on whole
    std::optional<Error> m_failure; ///< of a batch, its own or an earlier one
    std::string m_detail; ///< of that failure
    States m_outgoing;
    std::chrono::steady_clock::time_point m_outgoingSince;
    States m_last; ///< after the last batch, on its rank
};

/// An error in bytes, for another rank.
std::string packError(const Error& error);
Result<Error> unpackError(const std::string& bytes);

} // namespace qs
