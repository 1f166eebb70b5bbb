// SPDX-License-Identifier: Apache-2.0
// How long a stage goes on after a cancel: bench_cancel [OPERATORS [MOMENTS [STAGE]]].
#include "tests/support/stage_walk.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <pthread.h>
#include <thread>

using namespace qs;

namespace {

using Clock = std::chrono::steady_clock;

/// A moment by the clock, and by the processor time of a thread.
struct Moment
{
    Clock::time_point at;
    double worked = 0; ///< seconds
};

Moment momentOf(clockid_t thread)
{
    timespec worked {};
    clock_gettime(thread, &worked);
    return {Clock::now(), double(worked.tv_sec) + 1e-9 * double(worked.tv_nsec)};
}

double secondsBetween(const Moment& from, const Moment& to)
{
    return std::chrono::duration<double>(to.at - from.at).count();
}

/// The longest wait of a stage: by the clock and by the processor, each with its own moment.
struct Wait
{
    double seconds = 0, part = 0;
    std::string where; ///< what the stage had last reported

    void see(double waited, double at, const std::string& last)
    {
        if (waited > seconds)
            *this = {waited, at, last};
    }
    void print(const char* measure) const
    {
        std::printf("  %s %4.0f ms at %3.0f %% (%s)", measure, 1000 * seconds, 100 * part,
                    where.c_str());
    }
};

/// Cancels the stage at `moments` places, evenly over its time, and prints the longest waits.
/// Where another stage alone is asked for, only runs it.
void measure(const std::string& only, const std::string& name, int moments,
             const test::StageWalk::Stage& stage)
{
    clockid_t thread {};
    pthread_getcpuclockid(pthread_self(), &thread);
    const Moment start = momentOf(thread);
    if (const auto done = stage({});
        !done) { // the stages after it would have nothing to start from
        std::printf("%-13s %s\n", name.c_str(), done.error().line().c_str());
        std::exit(1);
    }
    const double whole = secondsBetween(start, momentOf(thread));
    if (!only.empty() && only != name)
        return;
    Wait clock, processor;
    int cancelled = 0;
    for (int i = 0; i < moments; ++i) {
        const double part = (i + 0.5) / moments;
        std::stop_source stop;
        Moment stopped;
        std::string last;
        const JobContext job(stop.get_token(), [&](const Progress& progress) {
            if (!stop.stop_requested())
                last = progress.stage + ": " + progress.what;
        });
        std::thread timer([&] {
            std::this_thread::sleep_for(std::chrono::duration<double>(whole * part));
            stopped = momentOf(thread);
            stop.request_stop();
        });
        const bool done = stage(job).has_value();
        const Moment over = momentOf(thread);
        timer.join();
        if (done)
            continue;
        ++cancelled;
        clock.see(secondsBetween(stopped, over), part, last);
        processor.see(over.worked - stopped.worked, part, last);
    }
    std::printf("%-13s %6.2f s, %d of %d cancelled, longest wait:", name.c_str(), whole, cancelled,
                moments);
    clock.print("clock");
    processor.print(" processor");
    std::printf("\n");
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv)
{
    const int operators = argc > 1 ? std::atoi(argv[1]) : 20000;
    const int moments = argc > 2 ? std::atoi(argv[2]) : 20;
    const std::string only = argc > 3 ? argv[3] : "";
    const auto folder = std::filesystem::temp_directory_path() / "bench_cancel";
    std::filesystem::create_directories(folder);
    test::StageWalk walk(operators / 4, folder.string());
    for (const std::string& name : test::StageWalk::names()) {
        const auto& forms = exportForms();
        const bool isExport = std::find(forms.begin(), forms.end(), name) != forms.end();
        // Of the exports only the ONNX file is what another stage starts from.
        const bool isNeeded = !isExport || (name == "onnx" && only == "verify");
        if (only.empty() || only == name || isNeeded)
            measure(only, name, moments, walk.stage(name));
        if (only == name)
            break;
    }
    std::filesystem::remove_all(folder);
    return 0;
}
