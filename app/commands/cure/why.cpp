// SPDX-License-Identifier: Apache-2.0
#include "app/commands/command.h"
#include "app/commands/model/compare_files.h"
#include "app/commands/model/model_run.h"
#include "app/commands/model/restored_result.h"
#include "app/commands/options/device_option.h"
#include "app/commands/options/number_checks.h"
#include "app/commands/text/console.h"
#include "app/commands/text/why_text.h"
#include "engine/base/log.h"
#include "engine/pipeline/keys/content_keys.h"
#include "engine/project/project.h"
#include "engine/verify/certificate.h"

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
    bool asksForRun = false; ///< the user set an option of `blame`
};

Result<void> printWhy(const WhyOptions& options, const Graph& model, const Plan& plan,
                      const Diagnosis& diagnosis)
{
    const WhyParts parts {&model, &plan, &diagnosis};
    return printOut(options.json ? whyJson(parts) : whyText(parts, std::size_t(options.top)));
}

/// Computes the causes and prints them.
Result<void> findWhy(const WhyOptions& options, StageChain& chain, const CompareRequest& request,
                     const CommandRun& job)
{
    QS_TRY(const DiagnosisPtr diagnosis, chain.why(request, options.blame, job));
    const PreparedModel& prepared = *request.calibration->prepared;
    if (prepared.model->info().trained)
        qs::note(
            "the noise is against the trained weights; 'quantize' and 'compare' measure against "
            "the model before its training");
    return printWhy(options, *prepared.model, *prepared.plan, *diagnosis);
}

/// True if a run on this data would repeat the result: same decisions, samples and probes.
Result<bool> isSameRun(const WhyOptions& options, const StoredWhy& stored, const CommandRun& job)
{
    const bool sameOptions = stored.diagnosis->options == options.blame
        && stored.diagnosis->eightBitsHold == hasDotProduct();
    const bool sameDevice = options.device == "auto" || options.device == stored.run.device;
    // A run takes whole batches of all the data, from the first on.
    const CalibrationSettings& cut = stored.run.recipe.calibration;
    const bool sameBatches = !stored.run.comparisonData.empty() || cut.batches == 0
        || std::int64_t(cut.batches) * cut.batchSize >= options.blame.samples;
    if (!sameOptions || !sameDevice || !sameBatches || !stored.isOfRecipe)
        return false;
    ContentHashes hashes;
    QS_TRY(const Key data, hashes.of(options.data, stored.model->info().sha256, job));
    return data == stored.run.comparedSha256;
}

/// Prints the causes of a written result: the stored ones, else computed with its recipe and
/// parameters.
Result<void> runOnResult(const WhyOptions& options, const CommandRun& job)
{
    if (!options.recipe.empty())
        return fail(makeError(ErrorCode::Usage, "--recipe is for a model: a result has its own"));
    StageChain chain;
    QS_TRY(const ModelSource source, sourceOfResult(options.model, options.movedTo, job));
    QS_TRY(const StoredWhy stored, whyOfResult(chain, options.model, source, job));
    if (options.data.empty() && !stored.diagnosis)
        return fail(makeError(ErrorCode::Usage, "--data is required: the result holds no causes")
                        .withHint("'quantize --why' keeps them in the result"));
    if (options.data.empty() && options.asksForRun)
        return fail(ErrorCode::Usage,
                    "--data is required: --samples, --seed and --exact ask for another run");
    if (options.data.empty() && !stored.isOfRecipe)
        warn((std::filesystem::path(stored.run.folder) / "recipe.json").string()
             + " was changed since: these are the causes of the decisions before");
    if (stored.diagnosis) {
        QS_TRY(const bool same,
               options.data.empty() ? Result<bool>(true) : isSameRun(options, stored, job));
        if (same)
            return printWhy(options, *stored.model, *stored.plan, *stored.diagnosis);
    }
    RunSettings settings;
    settings.calibrationData = options.data;
    settings.device = options.device;
    QS_TRY(const RestoredResult restored,
           restoreResult(chain, {options.model, source.model, settings}, job));
    return findWhy(options, chain,
                   {restored.calibration, restored.converted, restored.planned.recipe, settings,
                    restored.edited},
                   job);
}

Result<void> runOnModel(const WhyOptions& options, const CommandRun& job)
{
    ModelRun run(options, job);
    QS_CHECK(run.locate());
    QS_CHECK(run.plan());
    QS_CHECK(run.calibrate());
    QS_CHECK(run.convert());
    return findWhy(options, run.chain(), run.compareRequest(), job);
}

Result<void> runWhy(WhyOptions options, const CommandRun& job)
{
    if (options.exact >= 0)
        options.blame.exact = options.exact;
    options.blame.rows = std::max(options.blame.rows, std::min(options.blame.samples, kMostRows));
    const bool isModel = isModelFile(options.model) || isProjectFile(options.model);
    return withModelNotes(isModel ? runOnModel(options, job) : runOnResult(options, job),
                          options.model);
}

} // namespace

void addWhyCommand(CLI::App& app, Command& chosen)
{
    auto options = std::make_shared<WhyOptions>();
    CLI::App* verb = app.add_subcommand(
        "why", "Reports which quantizers cause the noise of the outputs; tries no change");
    verb->add_option("MODEL", options->model,
                     "a .pt2, a TorchScript .pt, a project, or what 'quantize --out' wrote")
        ->required();
    addMovedOption(*verb, options->movedTo);
    addEditOptions(*verb, options->edits);
    verb->add_option("--recipe", options->recipe,
                     "of a model: the decisions; without one backend x86's own");
    verb->add_option(
        "--data", options->data,
        "a .npz, a .pt of torch.save, a folder of images, .tar shards, or 'sample'; a project has "
        "its own, and a result of 'quantize --why' holds its causes");
    verb->add_option("--compare-on", options->compareOn,
                     "of a model: data to look at the noise on; without them a project's own, else "
                     "those of the calibration");
    addDeviceOption(*verb, options->device);
    CLI::Option* samples = verb->add_option("--samples", options->blame.samples,
                                            "how many samples are looked at, at most")
                               ->check(positiveNumber());
    CLI::Option* seed = verb->add_option("--seed", options->blame.seed, "of the probes");
    CLI::Option* exact
        = verb->add_option(
                  "--exact", options->exact,
                  "measure so many sites alone, the greatest first; without it those where the "
                  "prediction does not hold")
              ->check(notNegativeNumber());
    verb->add_option("--top", options->top, "how many causes and sites are listed")
        ->check(notNegativeNumber());
    verb->add_flag("--json", options->json, "one JSON document on stdout");
    verb->callback([=, &chosen] {
        options->asksForRun = samples->count() + seed->count() + exact->count() > 0;
        chosen = [options](const CommandRun& job) { return runWhy(*options, job); };
    });
}

} // namespace qs
