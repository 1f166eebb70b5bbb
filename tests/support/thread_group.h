// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/distribute/group.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <tuple>
#include <vector>

namespace qs {

/// The messages of ranks that are threads of one process, with what passed through each rank.
class MessageBoard
{
public:
    explicit MessageBoard(int ranks)
        : m_bytes(std::size_t(ranks))
        , m_messages(std::size_t(ranks))
    {
    }
    void put(int from, int to, const std::string& name, std::string bytes)
    {
        const std::lock_guard lock(m_mutex);
        m_bytes[std::size_t(from)] += bytes.size();
        m_bytes[std::size_t(to)] += bytes.size();
        ++m_messages[std::size_t(to)];
        m_board[{from, to, name}] = std::move(bytes);
        m_changed.notify_all();
    }
    Result<std::string> take(int from, int to, const std::string& name)
    {
        std::unique_lock lock(m_mutex);
        const auto isReady = [&] { return m_failure || m_board.contains({from, to, name}); };
        if (!m_changed.wait_for(lock, std::chrono::seconds(20), isReady))
            return qs::fail(ErrorCode::Io, "no message '" + name + "'");
        const auto found = m_board.find({from, to, name});
        if (found == m_board.end())
            return qs::fail(*m_failure);
        std::string bytes = std::move(found->second);
        m_board.erase(found);
        return bytes;
    }
    void fail(const Error& error)
    {
        const std::lock_guard lock(m_mutex);
        if (!m_failure)
            m_failure = error;
        m_changed.notify_all();
    }
    std::optional<Error> failure()
    {
        const std::lock_guard lock(m_mutex);
        return m_failure;
    }
    std::int64_t nextTask(const std::string& name)
    {
        const std::lock_guard lock(m_mutex);
        return m_tasks[name]++;
    }
    /// Sent and received by a rank.
    std::size_t bytes(int rank) const { return m_bytes[std::size_t(rank)]; }
    /// Received by a rank.
    int messages(int rank) const { return m_messages[std::size_t(rank)]; }
    bool isEmpty() const { return m_board.empty(); }

private:
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::map<std::tuple<int, int, std::string>, std::string> m_board;
    std::vector<std::size_t> m_bytes;
    std::vector<int> m_messages;
    std::optional<Error> m_failure;
    std::map<std::string, std::int64_t> m_tasks;
};

class ThreadGroup : public Group
{
public:
    ThreadGroup(MessageBoard& board, int rank, int size)
        : Group(rank, size, rank)
        , m_board(board)
    {
    }
    Result<void> send(int to, const std::string& name, std::string bytes) override
    {
        m_board.put(rank(), to, name, std::move(bytes));
        return {};
    }
    Result<std::string> receive(int from, const std::string& name, const JobContext&) override
    {
        return m_board.take(from, rank(), name);
    }
    Result<std::int64_t> nextTask(const std::string& name) override
    {
        return m_board.nextTask(name);
    }
    Result<void> check() override
    {
        const auto failure = m_board.failure();
        return failure ? Result<void>(qs::fail(*failure)) : Result<void>();
    }
    void fail(const Error& error) override { m_board.fail(error); }

private:
    MessageBoard& m_board;
};

/// Runs `work` once for each rank, all at the same time, and returns when all are done.
inline void runRanks(MessageBoard& board, int size, const std::function<void(Group&)>& work)
{
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < size; ++rank)
        threads.emplace_back([&board, &work, rank, size] {
            ThreadGroup group(board, rank, size);
            work(group);
        });
}

} // namespace qs
