// SPDX-License-Identifier: Apache-2.0
// What a preview costs beside a float forward of the same samples:
// bench_preview MODEL DATA [BATCHES [SAMPLES A BATCH]]. Every quantized unit is kept float once, in turn.
#include "engine/calibrate/dataset.h"
#include "engine/execute/interpreter.h"
#include "engine/import/importer.h"
#include "engine/pipeline/stage_chain.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

using namespace qs;

namespace {

using Clock = std::chrono::steady_clock;

template<class T>
T must(Result<T> result)
{
    if (result)
        return std::move(*result);
    std::fprintf(stderr, "%s\n", result.error().line().c_str());
    std::exit(1);
}

template<class Work>
double seconds(const Work& work)
{
    const auto start = Clock::now();
    work();
    return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values.empty() ? 0 : values[values.size() / 2];
}

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
        std::fprintf(stderr, "usage: bench_preview MODEL DATA [BATCHES [SAMPLES]]\n");
        return 2;
    }
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
    const double cold = seconds([&] { first = preview(recipe); });

    // The float forward of the same samples, by the fastest way that there is here.
    DatasetOptions options;
    options.batchSize = int(first->samples);
    options.batches = 1;
    const auto data = must(openDataset(argv[2], *model, options));
    const Batch batch = must(data->batch(0));
    const Layout layout = fastLayout(*model);
    const Interpreter interpreter = must(Interpreter::create(model, at::kCPU, layout));
    std::vector<at::IValue> inputs;
    for (const at::IValue& input : batch.inputs)
        inputs.push_back(inLayout(input, layout));
    const auto forward = [&] { return seconds([&] { must(interpreter.run(inputs)); }); };
    forward();

    std::vector<std::pair<std::size_t, std::string>> units; // place in the graph, name
    for (const MatchGroup& group : plan->groups)
        if (group.quantized)
            units.emplace_back(model->position(group.root), model->get(group.root).name);
    std::sort(units.begin(), units.end());
    std::vector<double> late, all;
    for (std::size_t i = 0; i < units.size(); ++i) {
        std::vector<double> floats;
        for (int round = 0; round < 3; ++round)
            floats.push_back(forward());
        const double once = median(floats);
        const double toggled
            = seconds([&] { preview(keptFloat(recipe, units[i].second)); });
        const double back = seconds([&] { preview(recipe); });
        const double ratio = toggled / once;
        all.push_back(ratio);
        if (i >= units.size() / 2)
            late.push_back(ratio);
        if (i == 0 || i + 1 == units.size() || i == units.size() / 2)
            std::printf("%-28s %7.1f ms  %5.2f of a forward (%.1f ms)  undo %.1f ms\n",
                        units[i].second.c_str(), toggled * 1e3, ratio, once * 1e3, back * 1e3);
    }
    std::printf("%lld samples; cold %.1f ms; last half: median %.2f, worst %.2f; all: median %.2f, "
                "worst %.2f of a float forward\nkept %.1f MB\n",
                static_cast<long long>(first->samples), cold * 1e3, median(late),
                *std::max_element(late.begin(), late.end()), median(all),
                *std::max_element(all.begin(), all.end()), double(chain.keptBytes()) / 1e6);
    return 0;
}
