// SPDX-License-Identifier: Apache-2.0
#include "engine/base/process/leavable_work.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <thread>
#include <unistd.h>

namespace qs {

namespace {

std::atomic<int> working = 0; ///< number of running threads

/// Exits immediately if threads still run, since they would read data that the process is about to
/// destroy.
void endAtOnce(int code, void*)
{
    if (working == 0)
        return;
    std::fflush(nullptr);
    _exit(code);
}

} // namespace

Result<void> runLeavable(std::function<Result<void>()> work, const JobContext& job)
{
    std::packaged_task<Result<void>()> task(std::move(work));
    std::future<Result<void>> done = task.get_future();
    ++working;
    std::thread thread([task = std::move(task)]() mutable {
        task();
        task = {}; // destroys everything it owns
        --working;
    });
    while (done.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready)
        if (auto running = job.check(); !running) {
            on_exit(endAtOnce, nullptr);
            thread.detach();
            return running;
        }
    thread.join();
    return done.get();
}

} // namespace qs
