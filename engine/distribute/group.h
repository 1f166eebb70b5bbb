// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace qs {

/// The processes (ranks) that do one run together: they exchange messages, and none outlives the
/// failure of another. Stages take a group and do not know who started it. One thread per rank.
class Group
{
public:
    /// `localRank`: among the ranks of this machine. `attempt`: how often the launcher has started
    /// the ranks again.
    Group(int rank, int size, int localRank, int attempt = 0)
        : m_rank(rank)
        , m_size(size)
        , m_localRank(localRank)
        , m_attempt(attempt)
    {
    }
    virtual ~Group() = default;
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;

    int rank() const { return m_rank; } ///< from 0
    int size() const { return m_size; }
    int localRank() const { return m_localRank; } ///< numbers the GPU that is this rank's
    bool isRestarted() const { return m_attempt > 0; }
    /// True for the rank that prints and writes results.
    bool isFirst() const { return m_rank == 0; }
    bool isAlone() const { return m_size == 1; }
    /// A name for the messages of one exchange. The ranks call it equally often, in one order.
    std::string newName(const std::string& stage)
    {
        return stage + "#" + std::to_string(++m_names);
    }

    /// Leaves a message for one rank. A name is used once per run, sender and receiver.
    virtual Result<void> send(int to, const std::string& name, std::string bytes) = 0;
    /// Waits for a message and takes it. Errors: another rank failed (with its line), none came
    /// within the time limit (Io, naming the rank), Cancelled.
    virtual Result<std::string> receive(int from, const std::string& name, const JobContext& job)
        = 0;
    /// Returns 0, 1, 2 ...: each number once over all ranks.
    virtual Result<std::int64_t> nextTask(const std::string& name) = 0;
    /// Fails once the run has failed on another rank, with its line.
    virtual Result<void> check() = 0;
    /// Informs the other ranks that this one ends with an error. They end with its line, unless
    /// another failed before.
    virtual void fail(const Error& error) = 0;

private:
    int m_rank, m_size, m_localRank, m_attempt;
    std::atomic<std::int64_t> m_names = 0;
};

/// The error (Usage) of a stage whose batches follow each other in time.
Error sequenceNeedsOneProcess();

/// The group of a process that runs by itself. Sending and receiving fail (Internal).
std::shared_ptr<Group> singleProcess();

} // namespace qs
