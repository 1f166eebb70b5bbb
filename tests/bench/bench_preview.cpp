// SPDX-License-Identifier: Apache-2.0
// What a preview costs beside a float forward of the same samples:
// bench_preview MODEL DATA [BATCHES [SAMPLES A BATCH [NODE]]]. Every quantized unit, or
// those of that node alone, is kept float once, in turn.
#include "engine/base/memory/freed_memory.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/execute/interpreter.h"
#include "engine/import/importer.h"
#include "engine/pipeline/stage_chain.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>

using namespace qs;

namespace {

using Clock = std::chrono::steady_clock;

/// By the clock, and of the processor over all threads.
struct Time
{
    double clock = 0, processor = 0;
};

template<class T>
T must(Result<T> result)
{
    if (result)
        return std::move(*result);
    std::fprintf(stderr, "%s\n", result.error().line().c_str());
    std::exit(1);
}

template<class Work>
Time timed(const Work& work)
{
    const auto start = Clock::now();
    const std::clock_t used = std::clock();
    work();
    return {std::chrono::duration<double>(Clock::now() - start).count(),
            double(std::clock() - used) / CLOCKS_PER_SEC};
}

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values.empty() ? 0 : values[values.size() / 2];
}

/// Shares of a float forward, by the clock and of the processor.
struct Shares
{
    std::vector<double> clock, processor;
    void add(const Time& time, const Time& forward)
    {
        clock.push_back(time.clock / forward.clock);
        processor.push_back(time.processor / forward.processor);
    }
    void tell(const char* what) const
    {
        if (clock.empty())
            return;
        std::printf("%-12s %5.2f %5.2f   %5.2f %5.2f\n", what, median(clock), median(processor),
                    *std::max_element(clock.begin(), clock.end()),
                    *std::max_element(processor.begin(), processor.end()));
    }
};

Recipe keptFloat(const Recipe& recipe, const std::string& node)
{
    Recipe out = recipe;
    Rule rule;
    rule.kind = RuleKind::Node;
    rule.key = node;
    out.mapping.rules.push_back(std::move(rule));
    return out;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 3) {
        std::fprintf(stderr, "usage: bench_preview MODEL DATA [BATCHES [SAMPLES [NODE]]]\n");
        return 2;
    }
    keepFreedMemory(); // as the programs do
    const GraphPtr model = must(importModel(argv[1]));
    const RunSettings settings {argv[2], {}, "cpu"};
    Recipe recipe = defaultRecipe();
    recipe.calibration.batches = argc > 3 ? std::atoi(argv[3]) : 2;
    recipe.calibration.batchSize = argc > 4 ? std::atoi(argv[4]) : 8;
    StageChain chain;
    const PlanPtr plan = must(chain.plan(model, recipe));
    must(chain.calibrate({model, plan, recipe, settings}, {}));
    const auto preview = [&](const Recipe& decisions) {
        return must(chain.preview({model, decisions, settings}, {}));
    };
    PreviewPtr first;
    const Time cold = timed([&] { first = preview(recipe); });

    // The float forward of the same samples, by the fastest way that there is here.
    DatasetOptions options;
    options.batchSize = int(first->samples);
    options.batches = 1;
    const auto data = must(openDataset(argv[2], *model, options));
    const Batch batch = must(data->batch(0));
    const Layout layout = fastLayout(*model);
    const Interpreter interpreter = must(Interpreter::create(model, {.layout = layout}));
    std::vector<at::IValue> inputs;
    for (const at::IValue& input : batch.inputs)
        inputs.push_back(inLayout(input, layout));
    const auto forward = [&] { return timed([&] { must(interpreter.run(inputs)); }); };
    forward();

    std::vector<std::pair<std::size_t, std::string>> units; // place in the graph, name
    for (const MatchGroup& group : plan->groups)
        if (group.quantized)
            units.emplace_back(model->position(group.root), model->get(group.root).name);
    std::sort(units.begin(), units.end());
    Shares late, all, undo;
    for (std::size_t i = 0; i < units.size(); ++i) {
        if (argc > 5 && units[i].second != argv[5])
            continue;
        const Time once = forward();
        PreviewPtr made;
        const Time toggled = timed([&] { made = preview(keptFloat(recipe, units[i].second)); });
        const Time back = timed([&] { preview(recipe); });
        all.add(toggled, once);
        undo.add(back, once);
        if (i >= units.size() / 2)
            late.add(toggled, once);
        std::printf("%-28s %7.1f ms of %7.1f ms, processor %7.1f of %7.1f%s\n",
                    units[i].second.c_str(), toggled.clock * 1e3, once.clock * 1e3,
                    toggled.processor * 1e3, once.processor * 1e3,
                    made->estimated.empty() ? "" : ", ranges from the samples");
    }
    std::printf("%lld samples; the first preview %.1f ms; kept %.1f MB\n",
                static_cast<long long>(first->samples), cold.clock * 1e3,
                double(chain.keptBytes()) / 1e6);
    std::printf("share of a float forward: median by the clock, of the processor; worst\n");
    late.tell("last half");
    all.tell("all");
    undo.tell("undo");
    return 0;
}
