// SPDX-License-Identifier: Apache-2.0
// What observing costs: `bench_calibration MODEL DATA OBSERVER ROUNDS [BATCHES]` runs, in turn,
// ROUNDS times, all batches through the float graph, through the prepared graph without looking at
// any value, and through a calibration whose activations have that observer: alone, with the ranges
// recorded, and with a reader of its snapshots too. Prints one line of JSON: wall and processor
// seconds of every round, bytes of the weights and of the largest live set.
#include "engine/base/memory/freed_memory.h"
#include "engine/base/torch_guard.h"
#include "engine/calibrate/calibrator.h"
#include "engine/calibrate/convergence/range_recorder.h"
#include "engine/calibrate/memory_estimate.h"
#include "engine/convert/ranges/choose_qparams.h"
#include "engine/execute/interpreter.h"
#include "engine/import/importer.h"
#include "engine/plan/planner.h"
#include "engine/prepare/prepare.h"

#include <ATen/Parallel.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>

using namespace qs;

namespace {

struct Taken
{
    std::vector<double> wall, processor;
};

template<class Body>
Result<void> measure(Taken& taken, const Body& body)
{
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t before = std::clock();
    QS_CHECK(body());
    taken.processor.push_back(double(std::clock() - before) / CLOCKS_PER_SEC);
    taken.wall.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    return {};
}

Result<void> runAll(const Interpreter& interpreter, const Dataset& data)
{
    for (std::int64_t i = 0; i < data.batchCount(); ++i) {
        QS_TRY(const Batch batch, data.batch(i));
        QS_CHECK(interpreter.run(batch.inputs));
    }
    return {};
}

void printList(const char* name, const std::vector<double>& values, const char* end)
{
    std::printf("\"%s\": [", name);
    for (std::size_t i = 0; i < values.size(); ++i)
        std::printf("%s%.6f", i ? ", " : "", values[i]);
    std::printf("]%s", end);
}

void print(const char* name, const Taken& taken, const char* end)
{
    std::printf("\"%s\": {", name);
    printList("wall", taken.wall, ", ");
    printList("cpu", taken.processor, "}");
    std::printf("%s", end);
}

/// Backend x86 with this observer of activations everywhere.
Result<Recipe> recipeWith(const std::string& observer)
{
    const std::string reduced = R"("dtype": "quint8", "qscheme": "per_tensor_affine", )"
                                R"("reduce_range": true)";
    return parseRecipe(R"({"format": "quantscope.recipe", "version": 1, "backend": "x86",
        "qconfigs": {"bench": {"activation": {"observer": ")"
                           + observer + "\", " + reduced + R"(},
            "weight": {"observer": "per_channel_minmax", "dtype": "qint8",
                       "qscheme": "per_channel_symmetric", "ch_axis": 0}}},
        "mapping": {"global": "bench"}})",
                       "bench");
}

RangeRecorder recorderOf(const PreparedModel& prepared, std::shared_ptr<CalibrationWatch> watch)
{
    std::vector<RangeHistory> followed;
    for (const PlannedObserver& observer : prepared.plan->observers)
        if (!observer.isWeight && choosesQParams(observer.spec))
            followed.push_back({observer.id, observedName(*prepared.model, observer), {}});
    if (watch && !followed.empty())
        watch->ask(followed.back().id);
    return {std::move(followed),
            [](const ObserverStats& stats) {
                const ValueRange range = wholeRange(stats);
                return std::pair(range.min, range.max);
            },
            std::move(watch)};
}

Result<void> bench(char** argv, int batches)
{
    const InferenceScope scope;
    QS_TRY(const GraphPtr model, importModel(argv[1]));
    QS_TRY(const Recipe recipe, recipeWith(argv[3]));
    QS_TRY(const Backend backend, findBackend(recipe.target()));
    QS_TRY(Plan plan, makePlan(*model, recipe, backend));
    QS_TRY(const PreparedPtr prepared,
           prepareModel(model, std::make_shared<const Plan>(std::move(plan))));
    QS_TRY(const auto data, openDataset(argv[2], *model, {8, batches, false}));
    QS_TRY(const Interpreter floatForm, Interpreter::create(model));
    QS_TRY(const Interpreter preparedForm, Interpreter::create(prepared->graph));
    Taken floats, folded, calibration, recorded, watched;
    std::int64_t samples = 0;
    for (int round = -1; round < std::atoi(argv[4]); ++round) {
        Taken warm;
        QS_CHECK(measure(round < 0 ? warm : floats, [&] { return runAll(floatForm, *data); }));
        QS_CHECK(measure(round < 0 ? warm : folded, [&] { return runAll(preparedForm, *data); }));
        QS_CHECK(measure(round < 0 ? warm : calibration, [&]() -> Result<void> {
            QS_TRY(const ObservationsPtr seen, calibrate(*prepared, *data, "cpu"));
            samples = seen->samples;
            return {};
        }));
        for (const bool isWatched : {false, true})
            QS_CHECK(measure(round < 0       ? warm
                                 : isWatched ? watched
                                             : recorded,
                             [&]() -> Result<void> {
                                 RangeRecorder ranges = recorderOf(
                                     *prepared,
                                     isWatched ? std::make_shared<CalibrationWatch>() : nullptr);
                                 RunFindings found;
                                 found.ranges = &ranges;
                                 return calibrate(*prepared, *data, "cpu", {}, nullptr, &found)
                                     .map([](const ObservationsPtr&) {});
                             }));
    }
    QS_TRY(const Batch first, data->batch(0));
    const MemoryEstimate memory = estimateMemory(*model, first.inputs);
    std::printf("{\"observers\": %zu, \"samples\": %lld, \"weights\": %lld, \"live\": %lld, ",
                prepared->plan->observers.size(), static_cast<long long>(samples),
                static_cast<long long>(memory.weights), static_cast<long long>(memory.live));
    print("float", floats, ", ");
    print("prepared", folded, ", ");
    print("calibrate", calibration, ", ");
    print("recorded", recorded, ", ");
    print("watched", watched, "}\n");
    return {};
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 5)
        return 2;
    keepFreedMemory();
    at::set_num_threads(2);
    const auto done = bench(argv, argc > 5 ? std::atoi(argv[5]) : 16);
    if (!done)
        std::fprintf(stderr, "%s\n", done.error().line().c_str());
    return done ? 0 : 1;
}
