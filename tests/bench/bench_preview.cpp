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

/// A first figure within this time is not waited for.
constexpr double kPromptSeconds = 0.08;

/// Times of previews, and their shares of a float forward.
struct Times
{
    std::vector<double> clockShares, shares, clock, processor;
    void add(const Time& time, const Time& forward)
    {
        clockShares.push_back(time.clock / forward.clock);
        shares.push_back(time.processor / forward.processor);
        clock.push_back(time.clock * 1e3);
        processor.push_back(time.processor * 1e3);
    }
    /// The bound that the median meets: a share of a forward, or a prompt answer. By processor
    /// time, which depends less on neighbours than the clock.
    std::string met(double most) const
    {
        char text[32];
        if (median(shares) <= most)
            std::snprintf(text, sizeof text, "within %.1f", most);
        else
            std::snprintf(text, sizeof text, "%s %.0f ms",
                          median(processor) <= kPromptSeconds * 1e3 ? "within" : "above",
                          kPromptSeconds * 1e3);
        return text;
    }
    void tell(const char* what, double most = 0) const
    {
        if (clock.empty())
            return;
        std::printf("%-10s", what);
        for (const auto* values : {&clockShares, &shares, &clock, &processor})
            std::printf(values == &clockShares || values == &shares ? "  %5.2f %5.2f"
                                                                    : "  %6.1f %6.1f",
                        median(*values), *std::max_element(values->begin(), values->end()));
        std::printf("  %s\n", most > 0 ? met(most).c_str() : "");
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
    Times firstUnit, late, all, undo;
    for (std::size_t i = 0; i < units.size(); ++i) {
        if (argc > 5 && units[i].second != argv[5])
            continue;
        const Time once = forward();
        PreviewPtr made;
        const Time toggled = timed([&] { made = preview(keptFloat(recipe, units[i].second)); });
        const Time back = timed([&] { preview(recipe); });
        all.add(toggled, once);
        undo.add(back, once);
        if (i == 0)
            firstUnit.add(toggled, once);
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
    std::printf("median and worst: share of a float forward by the clock, of the processor; "
                "milliseconds by the clock, of the processor\n");
    firstUnit.tell("first unit", 1.5);
    late.tell("last half", 0.3);
    all.tell("all");
    undo.tell("undo");
    return 0;
}
