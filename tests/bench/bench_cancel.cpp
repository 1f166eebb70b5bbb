// SPDX-License-Identifier: Apache-2.0
// How long a stage goes on after a cancel: bench_cancel [OPERATORS [MOMENTS [STAGE]]].
#include "engine/convert/outline.h"
#include "engine/io/npz.h"
#include "engine/pipeline/stage_chain.h"
#include "tests/support/deep_model.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

using namespace qs;

namespace {

using Clock = std::chrono::steady_clock;
using Stage = std::function<Result<void>(const JobContext&)>; ///< fails where it was cancelled

double secondsSince(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Cancels the stage at `moments` places, evenly over its time, and prints the longest wait with
/// what the stage had last reported. Where another stage alone is asked for, only runs it.
void measure(const std::string& only, const char* name, int moments, const Stage& stage)
{
    auto start = Clock::now();
    if (const auto done = stage({});
        !done) { // the stages after it would have nothing to start from
        std::printf("%-10s %s\n", name, done.error().line().c_str());
        std::exit(1);
    }
    const double whole = secondsSince(start);
    if (!only.empty() && only != name)
        return;
    double worst = 0, at = 0;
    int cancelled = 0;
    std::string where;
    for (int i = 0; i < moments; ++i) {
        const double part = (i + 0.5) / moments;
        std::stop_source stop;
        Clock::time_point stopped;
        std::string last;
        const JobContext job(stop.get_token(), [&](const Progress& progress) {
            if (!stop.stop_requested())
                last = progress.stage + ": " + progress.what;
        });
        std::thread timer([&] {
            std::this_thread::sleep_for(std::chrono::duration<double>(whole * part));
            stopped = Clock::now();
            stop.request_stop();
        });
        const bool done = stage(job).has_value();
        const auto over = Clock::now();
        timer.join();
        if (done)
            continue;
        ++cancelled;
        const double waited = std::chrono::duration<double>(over - stopped).count();
        if (waited > worst) {
            worst = waited;
            at = part;
            where = last;
        }
    }
    std::printf("%-10s %8.2f s   worst wait %6.0f ms at %3.0f %% (%s), %d of %d cancelled\n", name,
                whole, 1000 * worst, 100 * at, where.c_str(), cancelled, moments);
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
    const std::string data = (folder / "x.npz").string();
    std::vector<NpyArray> arrays {npyFrom("x", std::vector<float>(8 * 8, 0.5f))};
    arrays.front().shape = {8, 8};
    if (!writeNpz(arrays, data))
        return 1;
    Recipe recipe = deep.recipe;
    recipe.calibration.batchSize = 2;
    const RunSettings settings {data, {}, "cpu"};

    measure(only, "outline", moments, [&](const JobContext& job) -> Result<void> {
        QS_CHECK(outlineConversion(deep.graph, deep.plan, recipe, job));
        return Result<void>();
    });
    CalibrationPtr seen;
    measure(only, "calibrate", moments, [&](const JobContext& job) -> Result<void> {
        StageChain chain;
        QS_TRY(seen, chain.calibrate({deep.graph, deep.plan, recipe, settings}, job));
        return Result<void>();
    });
    ConvertedPtr converted;
    measure(only, "convert", moments, [&](const JobContext& job) -> Result<void> {
        StageChain chain;
        QS_TRY(converted, chain.convert({seen, recipe, settings}, job));
        return Result<void>();
    });
    ComparisonPtr compared;
    measure(only, "compare", moments, [&](const JobContext& job) -> Result<void> {
        StageChain chain;
        QS_TRY(compared, chain.compare({seen, converted, recipe, settings}, job));
        return Result<void>();
    });
    for (const char* form : {"torchscript", "pt2-reference"})
        measure(only, form, moments, [&](const JobContext& job) -> Result<void> {
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
            return Result<void>();
        });
    std::filesystem::remove_all(folder);
    return 0;
}
