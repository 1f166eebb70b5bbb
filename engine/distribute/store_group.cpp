// SPDX-License-Identifier: Apache-2.0
#include "engine/distribute/store_group.h"

#include "engine/base/process/system.h"
#include "engine/base/text.h"
#include "engine/base/torch_guard.h"

#include <c10/util/Logging.h>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace qs {

namespace {

using Clock = std::chrono::steady_clock;

// TCPStore tries twice for so long.
constexpr std::chrono::seconds kConnectTime {8}, kBeat {1}, kSilence {15};
// How long the rank that keeps the store waits for the others: for their work, or to tell a
// failure.
constexpr std::chrono::seconds kLeaveTime {20}, kTellTime {4};
constexpr std::chrono::milliseconds kSlice {200}; ///< of a wait, between checks for a cancel
constexpr std::size_t kMostBytes = std::size_t(4) << 20; ///< of a value; TCPStore takes 8 MiB
constexpr const char* kLeft = "left";
constexpr int kFatal = 3; ///< c10's level of logs

std::vector<std::uint8_t> storeBytes(std::string_view text)
{
    return {text.begin(), text.end()};
}

std::string storeText(const std::vector<std::uint8_t>& bytes)
{
    return {bytes.begin(), bytes.end()};
}

/// A store with the names of one run.
class RunStore
{
public:
    static Result<RunStore> connect(const RankEnvironment& at, bool isServer)
    {
        return guardTorchValue<RunStore>([&]() -> Result<RunStore> {
            c10d::TCPStoreOptions options;
            options.port = at.port;
            options.isServer = isServer;
            options.waitWorkers = false;
            options.timeout = kConnectTime;
            RunStore store;
            store.m_prefix = "quantscope/" + at.run + "/" + std::to_string(at.restarts) + "/";
            store.m_store = c10::make_intrusive<c10d::TCPStore>(at.host, options);
            return store;
        });
    }

    Result<void> set(const std::string& key, std::string_view value)
    {
        return guardTorch([&]() -> Result<void> {
            m_store->set(m_prefix + key, storeBytes(value));
            return {};
        });
    }
    /// Sets a value unless there is one.
    Result<void> setFirst(const std::string& key, std::string_view value)
    {
        return guardTorch([&]() -> Result<void> {
            m_store->compareSet(m_prefix + key, {}, storeBytes(value));
            return {};
        });
    }
    Result<std::int64_t> add(const std::string& key)
    {
        return guardTorchValue<std::int64_t>(
            [&]() -> Result<std::int64_t> { return m_store->add(m_prefix + key, 1); });
    }
    /// Returns nullopt if the key has no value.
    Result<std::optional<std::string>> tryGet(const std::string& key)
    {
        using Found = std::optional<std::string>;
        return guardTorchValue<Found>([&]() -> Result<Found> {
            if (!m_store->check({m_prefix + key}))
                return Found();
            return Found(storeText(m_store->get(m_prefix + key)));
        });
    }
    /// True once the value is there; false after a while.
    Result<bool> wait(const std::string& key)
    {
        const auto waited = guardTorch([&]() -> Result<void> {
            m_store->wait({m_prefix + key}, kSlice);
            return {};
        });
        if (waited)
            return true;
        // Its time is over, or the store is lost: that one throws again.
        return guardTorchValue<bool>(
            [&]() -> Result<bool> { return m_store->check({m_prefix + key}); });
    }
    Result<std::string> take(const std::string& key)
    {
        return guardTorchValue<std::string>([&]() -> Result<std::string> {
            std::string value = storeText(m_store->get(m_prefix + key));
            m_store->deleteKey(m_prefix + key);
            return value;
        });
    }

private:
    c10::intrusive_ptr<c10d::TCPStore> m_store;
    std::string m_prefix;
};

class StoreGroup final : public Group
{
public:
    StoreGroup(const RankEnvironment& at, const JoinOptions& options, RunStore store,
               RunStore watched)
        : Group(at.rank, at.size, at.localRank, at.restarts)
        , m_at(at)
        , m_options(options)
        , m_store(std::move(store))
        , m_watched(std::move(watched))
        , m_host(hostName())
    {
    }

    /// Leaves when its work is done; whoever keeps the store stays until the others have left.
    ~StoreGroup() override
    {
        for (std::jthread* thread : {&m_watch, &m_guard})
            if (thread->joinable()) {
                thread->request_stop();
                thread->join();
            }
        if (!m_isMember)
            return;
        (void)m_watched.set(beatKey(rank()), kLeft);
        if (m_at.usesAgentStore || !isFirst())
            return;
        const auto end = Clock::now() + (m_failure ? kTellTime : kLeaveTime);
        for (int other = 1; other < size(); ++other)
            while (Clock::now() < end) {
                const auto beat = m_watched.tryGet(beatKey(other));
                if (!beat || beat->value_or(kLeft) == kLeft) // or it never came
                    break;
                std::this_thread::sleep_for(kSlice);
            }
    }

    Result<void> join(const JobContext& job)
    {
        QS_TRY(const std::int64_t joined, m_store.add("joined/" + std::to_string(rank())));
        if (joined > 1)
            return ::qs::fail(makeError(ErrorCode::Io,
                                        "another run uses the store at " + place()
                                            + " with the same rank " + std::to_string(rank()))
                                  .withHint("give each run its own --rdzv-id and port"));
        m_isMember = true;
        QS_CHECK(m_store.set("host/" + std::to_string(rank()), m_host));
        QS_CHECK(m_watched.set(beatKey(rank()), "0"));
        m_answered = Clock::now().time_since_epoch().count();
        m_watch = std::jthread([this](const std::stop_token& stop) { watch(stop); });
        m_guard = std::jthread([this](const std::stop_token& stop) { guard(stop); });
        for (int other = 0; other < size(); ++other) {
            job.report("ranks",
                       "waiting for rank " + std::to_string(other) + " of "
                           + std::to_string(size()),
                       double(other) / double(size()));
            QS_CHECK(waitFor("host/" + std::to_string(other), other, job));
        }
        return {};
    }

    Result<void> send(int to, const std::string& name, std::string bytes) override
    {
        QS_CHECK(check());
        const std::string key = messageKey(rank(), to, name);
        for (std::size_t part = 1; part * kMostBytes < bytes.size(); ++part)
            QS_CHECK(set(key + "/" + std::to_string(part),
                         std::string_view(bytes).substr(part * kMostBytes, kMostBytes)));
        // The first part comes last: when it is there, so are the others.
        return set(key, std::to_string(bytes.size()) + ":" + bytes.substr(0, kMostBytes));
    }

    Result<std::string> receive(int from, const std::string& name, const JobContext& job) override
    {
        const std::string key = messageKey(from, rank(), name);
        QS_CHECK(waitFor(key, from, job));
        QS_TRY(std::string first, take(key));
        const std::size_t colon = first.find(':');
        const std::size_t size = std::strtoull(first.c_str(), nullptr, 10);
        std::string bytes = first.substr(colon + 1);
        for (std::size_t part = 1; part * kMostBytes < size; ++part) {
            QS_TRY(const std::string more, take(key + "/" + std::to_string(part)));
            bytes += more;
        }
        return bytes;
    }

    Result<std::int64_t> nextTask(const std::string& name) override
    {
        QS_CHECK(check());
        QS_TRY(const std::int64_t count, m_store.add("task/" + name));
        return count - 1;
    }

    Result<void> check() override
    {
        const std::lock_guard lock(m_mutex);
        return m_failure ? Result<void>(::qs::fail(*m_failure)) : Result<void>();
    }

    void fail(const Error& error) override
    {
        {
            const std::lock_guard lock(m_mutex);
            if (m_failure)
                return;
            m_failure = error;
        }
        const std::string text
            = "rank " + std::to_string(rank()) + " on " + m_host + " failed: " + error.line();
        if (m_isMember) // else the store is another run's
            (void)m_store.setFirst("failed", text);
    }

private:
    std::string place() const { return m_at.host + ":" + std::to_string(m_at.port); }
    static std::string beatKey(int rank) { return "beat/" + std::to_string(rank); }
    static std::string messageKey(int from, int to, const std::string& name)
    {
        return "m/" + std::to_string(from) + "/" + std::to_string(to) + "/" + name;
    }
    std::string named(int other)
    {
        const auto host = m_store.tryGet("host/" + std::to_string(other));
        return "rank " + std::to_string(other) + (host && *host ? " on " + **host : std::string());
    }

    Result<void> set(const std::string& key, std::string_view value)
    {
        auto done = m_store.set(key, value);
        return done ? done : lost(done.error());
    }
    Result<std::string> take(const std::string& key)
    {
        auto value = m_store.take(key);
        if (!value)
            QS_CHECK(lost(value.error()));
        return value;
    }
    Result<void> lost(const Error& cause)
    {
        QS_CHECK(check());
        return ::qs::fail(ErrorCode::Io,
                          "the store at " + place() + " no longer answers: " + cause.message);
    }

    Result<void> waitFor(const std::string& key, int from, const JobContext& job)
    {
        const auto end = Clock::now() + m_options.timeout;
        for (;;) {
            QS_CHECK(check());
            QS_CHECK(job.check());
            const auto isThere = m_store.wait(key);
            if (!isThere)
                return lost(isThere.error());
            if (*isThere)
                return {};
            const auto beat = m_store.tryGet(beatKey(from));
            const auto late = m_store.tryGet(key); // what it sent before it left
            if (beat && late && *beat == kLeft && !*late)
                return ::qs::fail(ErrorCode::Io, named(from) + " has ended early");
            if (Clock::now() < end)
                continue;
            const auto seconds
                = std::chrono::duration_cast<std::chrono::milliseconds>(m_options.timeout);
            return ::qs::fail(makeError(ErrorCode::Io,
                                        named(from) + " sent nothing within "
                                            + numberText(double(seconds.count()) / 1000)
                                            + " s (--rank-timeout)")
                                  .withHint("look at that rank's own message, or allow more time"));
        }
    }

    /// Reports that this rank lives; checks whether the next one does and whether any has failed.
    void watch(const std::stop_token& stop)
    {
        const int next = (rank() + 1) % size();
        std::string seen;
        auto changed = Clock::now();
        for (std::int64_t beat = 1; !stop.stop_requested(); ++beat) {
            const auto now = Clock::now();
            const auto reported = m_watched.set(beatKey(rank()), std::to_string(beat));
            const auto failed = m_watched.tryGet("failed");
            const auto other = m_watched.tryGet(beatKey(next));
            if (reported && failed && other) {
                m_answered = now.time_since_epoch().count();
                if (*failed)
                    return stopFor(makeError(ErrorCode::Io, **failed));
                if (other->value_or(seen) != seen || seen == kLeft) {
                    seen = other->value_or(seen);
                    changed = now;
                }
                if (now - changed > kSilence) {
                    const std::string text = named(next) + " no longer answers";
                    (void)m_watched.setFirst("failed", text);
                    return stopFor(makeError(ErrorCode::Io, text));
                }
            }
            pause(stop);
        }
    }

    /// Checks whether the store answers `watch`, whose calls do not return without a network.
    void guard(const std::stop_token& stop)
    {
        while (!stop.stop_requested()) {
            const Clock::time_point answered {Clock::duration(m_answered.load())};
            if (Clock::now() - answered > kSilence)
                return stopFor(makeError(ErrorCode::Io,
                                         "the store at " + place() + " no longer answers (rank "
                                             + std::to_string(rank()) + " on " + m_host + ")"));
            pause(stop);
        }
    }

    static void pause(const std::stop_token& stop)
    {
        std::mutex mutex;
        std::condition_variable_any woken;
        std::unique_lock lock(mutex);
        woken.wait_for(lock, stop, kBeat, [] { return false; });
    }

    void stopFor(const Error& error)
    {
        {
            const std::lock_guard lock(m_mutex);
            if (m_failure) // its own
                return;
            m_failure = error;
        }
        if (m_options.onFailure)
            m_options.onFailure(error);
    }

    const RankEnvironment m_at;
    const JoinOptions m_options;
    RunStore m_store;
    RunStore m_watched; ///< its own connection: a wait blocks the other
    const std::string m_host;
    bool m_isMember = false;
    std::mutex m_mutex;
    std::optional<Error> m_failure;
    std::atomic<Clock::rep> m_answered = 0; ///< when the store last did
    std::jthread m_watch, m_guard;
};

Error unreachable(const RankEnvironment& at, const Error& cause)
{
    const std::string place = at.host + ":" + std::to_string(at.port);
    const bool isInUse = cause.message.find("EADDRINUSE") != std::string::npos;
    return makeError(
               ErrorCode::Io,
               at.text()
                   + (isInUse
                          ? " cannot keep the store: port " + std::to_string(at.port) + " is in use"
                          : " cannot reach the store at " + place + " (MASTER_ADDR, MASTER_PORT)"))
        .withHint(isInUse ? "choose another MASTER_PORT" : "is rank 0 running there?");
}

} // namespace

Result<std::shared_ptr<Group>> joinGroup(const RankEnvironment& environment,
                                         const JoinOptions& options, const JobContext& job)
{
    FLAGS_caffe2_log_level = kFatal; // c10d's lines on each attempt; errors are returned
    const bool isServer = environment.rank == 0 && !environment.usesAgentStore;
    auto store = RunStore::connect(environment, isServer);
    if (!store)
        return fail(unreachable(environment, store.error()));
    auto watched = RunStore::connect(environment, false);
    if (!watched)
        return fail(unreachable(environment, watched.error()));
    auto group = std::make_shared<StoreGroup>(environment, options, std::move(*store),
                                              std::move(*watched));
    if (const auto joined = group->join(job); !joined) {
        group->fail(joined.error());
        return fail(joined.error());
    }
    return std::shared_ptr<Group>(std::move(group));
}

} // namespace qs
