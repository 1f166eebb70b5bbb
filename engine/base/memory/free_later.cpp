// SPDX-License-Identifier: Apache-2.0
#include "engine/base/memory/free_later.h"

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace qs {

namespace {

class Freer
{
public:
    void add(std::function<void()> free)
    {
        {
            const std::lock_guard lock(m_mutex);
            m_waiting.push_back(std::move(free));
        }
        m_added.notify_one();
    }

private:
    void run(const std::stop_token& stop)
    {
        for (;;) {
            std::vector<std::function<void()>> taken;
            {
                std::unique_lock lock(m_mutex);
                if (!m_added.wait(lock, stop, [this] { return !m_waiting.empty(); }))
                    return;
                taken.swap(m_waiting);
            }
            for (const auto& free : taken)
                free();
        }
    }

    std::mutex m_mutex;
    std::condition_variable_any m_added;
    std::vector<std::function<void()>> m_waiting;
    std::jthread m_thread {[this](const std::stop_token& stop) { run(stop); }};
};

} // namespace

void freeLater(std::function<void()> free)
{
    static Freer freer;
    freer.add(std::move(free));
}

} // namespace qs
