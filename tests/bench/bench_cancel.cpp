// SPDX-License-Identifier: Apache-2.0
// How long a stage goes on after a cancel: bench_cancel [OPERATORS [MOMENTS [STAGE]]].
#include "engine/convert/outline.h"
#include "engine/export/exporter.h"
#include "engine/import/importer.h"
#include "engine/io/npz.h"
#include "engine/pipeline/stage_chain.h"
#include "tests/support/deep_model.h"

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
using Stage = std::function<Result<void>(const JobContext&)>; ///< fails where it was cancelled

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
void measure(const std::string& only, const std::string& name, int moments, const Stage& stage)
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
    const test::DeepModel deep(operators / 4);
    const auto folder = std::filesystem::temp_directory_path() / "bench_cancel";
    std::filesystem::create_directories(folder);
    const std::string data = (folder / "x.npz").string(), file = (folder / "deep.pt2").string();
    std::vector<NpyArray> arrays {npyFrom("x", std::vector<float>(8 * 8, 0.5f))};
    arrays.front().shape = {8, 8};
    if (!writeNpz(arrays, data) || !savePt2(*deep.graph, file, {}))
        return 1;
    Recipe recipe = deep.recipe;
    recipe.calibration.batchSize = 2;
    const RunSettings settings {data, {}, "cpu"};

    measure(only, "open", moments, [&](const JobContext& job) -> Result<void> {
        QS_CHECK(importModel(file, job));
        return {};
    });
    measure(only, "plan", moments, [&](const JobContext& job) -> Result<void> {
        StageChain chain;
        QS_CHECK(chain.plan(deep.graph, recipe, job));
        return {};
    });
    measure(only, "outline", moments, [&](const JobContext& job) -> Result<void> {
        QS_CHECK(outlineConversion(deep.graph, deep.plan, recipe, job));
        return {};
    });
    CalibrationPtr seen;
    measure(only, "calibrate", moments, [&](const JobContext& job) -> Result<void> {
        StageChain chain;
        QS_TRY(seen, chain.calibrate({deep.graph, deep.plan, recipe, settings}, job));
        return {};
    });
    ConvertedPtr converted;
    measure(only, "convert", moments, [&](const JobContext& job) -> Result<void> {
        StageChain chain;
        QS_TRY(converted, chain.convert({seen, recipe, settings}, job));
        return {};
    });
    ComparisonPtr compared;
    measure(only, "compare", moments, [&](const JobContext& job) -> Result<void> {
        StageChain chain;
        QS_TRY(compared, chain.compare({seen, converted, recipe, settings}, job));
        return {};
    });
    const auto exported = [&](const std::string& form, const JobContext& job) -> Result<void> {
        StageChain chain;
        ExportRequest request;
        request.calibration = seen;
        request.converted = converted;
        request.comparison = compared;
        request.recipe = recipe;
        request.settings = settings;
        request.forms = {form};
        request.folder = (folder / form).string();
        QS_CHECK(chain.exportTo(request, job));
        return {};
    };
    for (const std::string& form : exportForms())
        if (only.empty() || only == form) // no stage but verify starts from an export
            measure(only, form, moments,
                    [&](const JobContext& job) { return exported(form, job); });
    if (!only.empty() && only != "verify")
        return 0;
    if (!exported("onnx", {}))
        return 1;
    measure(only, "verify", moments, [&](const JobContext& job) -> Result<void> {
        QS_TRY(StoredRun stored, readStoredRun((folder / "onnx").string()));
        StageChain chain;
        QS_CHECK(
            chain.verify({converted, std::move(stored), data, {}, {"onnxruntime"}, false}, job));
        return {};
    });
    std::filesystem::remove_all(folder);
    return 0;
}
