// SPDX-License-Identifier: Apache-2.0
#include "app/commands/command.h"
#include "app/commands/model/compare_files.h"
#include "app/commands/model/model_run.h"
#include "app/commands/model/restored_result.h"
#include "app/commands/options/device_option.h"
#include "app/commands/text/console.h"
#include "app/commands/text/why_text.h"
#include "engine/pipeline/causes_of.h"
#include "engine/project/project.h"

#include <CLI/CLI.hpp>
#include <filesystem>

namespace qs {

namespace {

constexpr std::int64_t kMostRows = 65536; ///< samples times probes

struct WhyOptions : ModelRunOptions
{
    BlameOptions blame;
    std::int64_t exact = -1;
    std::int64_t top = 20;
    bool json = false;
};

Result<void> printWhy(const WhyOptions& options, const CompareRequest& request,
                      const BlamePtr& blame, const GraphPtr& file)
{
    const PreparedModel& prepared = *request.calibration->prepared;
    WhyParts parts;
    parts.model = prepared.model.get();
    parts.plan = prepared.plan.get();
    parts.blame = blame.get();
    const std::vector<Cause> causes = causesOf(*request.calibration, *blame, file);
    parts.causes = &causes;
    parts.data = request.settings.compared();
    return printOut(options.json ? whyJson(parts) : whyText(parts, std::size_t(options.top)));
}

/// Of a result that was written: its own recipe and parameters.
Result<void> runOnResult(const WhyOptions& options, const CommandRun& job)
{
    if (!options.recipe.empty())
        return fail(makeError(ErrorCode::Usage, "--recipe is for a model: a result has its own"));
    if (options.data.empty())
        return fail(ErrorCode::Usage, "--data is required");
    StageChain chain;
    RunSettings settings;
    settings.calibrationData = options.data;
    settings.device = options.device;
    QS_TRY(const ModelSource source, sourceOfResult(options.model, options.movedTo, job));
    QS_TRY(const RestoredResult restored,
           restoreResult(chain, options.model, source.model, settings, job));
    const CompareRequest request {restored.calibration, restored.converted, restored.planned.recipe,
                                  settings, restored.edited};
    QS_TRY(const BlamePtr blame, chain.blame(request, options.blame, job));
    return printWhy(options, request, blame, request.edited->file);
}

Result<void> runOnModel(const WhyOptions& options, const CommandRun& job)
{
    ModelRun run(options, job);
    QS_CHECK(run.locate());
    QS_CHECK(run.plan());
    QS_CHECK(run.calibrate());
    QS_CHECK(run.convert());
    const CompareRequest request = run.compareRequest();
    QS_TRY(const BlamePtr blame, run.chain().blame(request, options.blame, job));
    return printWhy(options, request, blame, request.edited->file);
}

Result<void> runWhy(WhyOptions options, const CommandRun& job)
{
    if (options.exact >= 0)
        options.blame.exact = options.exact;
    options.blame.rows = std::max(options.blame.rows, std::min(options.blame.samples, kMostRows));
    const bool isModel = isModelFile(options.model) || looksLikeProject(options.model);
    return toldOfModel(isModel ? runOnModel(options, job) : runOnResult(options, job),
                       options.model);
}

} // namespace

void addWhyCommand(CLI::App& app, Command& chosen)
{
    auto options = std::make_shared<WhyOptions>();
    CLI::App* verb = app.add_subcommand(
        "why", "Tells which quantizers cause the noise of the outputs; tries nothing");
    verb->add_option("MODEL", options->model,
                     "a .pt2, a TorchScript .pt, a project, or what 'quantize --out' wrote")
        ->required();
    addMovedOption(*verb, options->movedTo);
    addEditOptions(*verb, options->edits);
    verb->add_option("--recipe", options->recipe,
                     "of a model: the decisions; without one backend x86's own");
    verb->add_option("--data", options->data,
                     "a .npz, a .pt of torch.save, a folder of images, or 'sample'; a project has "
                     "its own");
    verb->add_option("--compare-on", options->compareOn,
                     "of a model: data to look at the noise on; without them a project's own, else "
                     "those of the calibration");
    addDeviceOption(*verb, options->device);
    verb->add_option("--samples", options->blame.samples, "how many samples are looked at, at most")
        ->check(CLI::PositiveNumber);
    verb->add_option("--seed", options->blame.seed, "of the probes");
    verb->add_option("--exact", options->exact,
                     "measure so many sites alone, the greatest first; without it those where the "
                     "prediction does not hold")
        ->check(CLI::NonNegativeNumber);
    verb->add_option("--top", options->top, "how many causes and sites are listed")
        ->check(CLI::NonNegativeNumber);
    verb->add_flag("--json", options->json, "one JSON document on stdout");
    verb->callback([options, &chosen] {
        chosen = [options](const CommandRun& job) { return runWhy(*options, job); };
    });
}

} // namespace qs
