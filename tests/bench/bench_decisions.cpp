// SPDX-License-Identifier: Apache-2.0
// What a changed decision costs beside the whole job: bench_decisions MODEL DATA MODULE [BATCHES
// [MB OF VALUES]].
#include "engine/import/importer.h"
#include "engine/pipeline/stage_chain.h"

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

struct Times
{
    double calibrate = 0, convert = 0, compare = 0;
    std::string goneOn; ///< where the comparison went on
    double sum() const { return calibrate + convert + compare; }
};

Times run(StageChain& chain, const GraphPtr& model, const Recipe& recipe,
          const RunSettings& settings)
{
    Times times;
    auto at = Clock::now();
    const auto lap = [&at] {
        const auto before = at;
        at = Clock::now();
        return std::chrono::duration<double>(at - before).count();
    };
    const PlanPtr plan = must(chain.plan(model, recipe));
    const CalibrationPtr seen = must(chain.calibrate({model, plan, recipe, settings}, {}));
    times.calibrate = lap();
    const ConvertedPtr converted = must(chain.convert({seen, recipe, settings}, {}));
    times.convert = lap();
    const JobContext listening({}, [&times](const Progress& progress) {
        if (progress.what.ends_with(" to measure"))
            times.goneOn = progress.what;
    });
    must(chain.compare({seen, converted, recipe, settings}, listening));
    times.compare = lap();
    return times;
}

Recipe with(const Recipe& recipe, const std::string& module, const NamedQConfig& qconfig)
{
    Recipe out = recipe;
    Rule rule;
    rule.kind = RuleKind::ModuleName;
    rule.key = module;
    rule.qconfig = qconfig;
    out.mapping.rules.push_back(std::move(rule));
    if (qconfig.config)
        out.qconfigs[qconfig.name] = *qconfig.config;
    return out;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 4) {
        std::fprintf(stderr, "usage: bench_decisions MODEL DATA MODULE [BATCHES [MB]]\n");
        return 2;
    }
    const GraphPtr model = must(importModel(argv[1]));
    const RunSettings settings {argv[2], {}, "cpu"};
    Recipe recipe = defaultRecipe();
    recipe.calibration.batches = argc > 4 ? std::atoi(argv[4]) : 16;
    StageChain::Options options;
    options.valueBytes = std::size_t(argc > 5 ? std::atoi(argv[5]) : 512) << 20;
    StageChain chain(options);
    const double whole = run(chain, model, recipe, settings).sum();
    std::printf("%-34s %9s %9s %9s %9s %9s\n", "decision", "calibrate", "convert", "compare",
                "seconds", "of whole");
    const auto tell = [&](const char* what, const Recipe& changed) {
        const Times times = run(chain, model, changed, settings);
        std::printf("%-34s %9.2f %9.2f %9.2f %9.2f %9.3f  %s\n", what, times.calibrate,
                    times.convert, times.compare, times.sum(), times.sum() / whole,
                    times.goneOn.c_str());
    };
    std::printf("%-34s %39.2f %9.3f\n", "whole job", whole, 1.0);
    tell("a module kept float", with(recipe, argv[3], {}));
    tell("undo", recipe);
    Recipe lowering = recipe;
    lowering.loweringRemove.push_back({{"torch.nn.Linear"}, {}});
    tell("a lowering row taken away", lowering);
    QConfig config = *presetQConfig("x86");
    config.activation.kind = ObserverKind::MinMax;
    tell("another observer for the module", with(recipe, argv[3], {"minmax", config}));
    std::printf("kept: %.1f MB\n", double(chain.keptBytes()) / 1e6);
    return 0;
}
