// SPDX-License-Identifier: Apache-2.0
#include "app/commands/command.h"
#include "app/commands/model/compare_files.h"
#include "app/commands/model/model_run.h"
#include "app/commands/options/compared_options.h"
#include "app/commands/options/device_option.h"
#include "app/commands/text/console.h"
#include "engine/base/files/atomic_file.h"
#include "engine/base/json/json_reader.h"
#include "engine/base/text.h"
#include "engine/edit/cures/locate_cures.h"
#include "engine/project/project.h"
#include "engine/result/stored_run.h"
#include "engine/verify/gate.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace qs {

namespace {

struct CheckOptions : ModelRunOptions
{
    std::string subject; ///< a result, or a model
    std::string preset, junit, sarif;
    std::optional<double> minSqnr, minCosine, maxDrop, minCoverage;
    std::vector<std::string> nodes;
};

/// Returns the limits of the options; those that are not given come from the recipe.
Result<GateLimits> withRecipe(GateLimits limits, const Recipe& recipe)
{
    limits = withLimits(std::move(limits), recipe.limits);
    if (limits.isEmpty())
        return fail(makeError(ErrorCode::Usage, "no limit is given")
                        .withHint("give --min-sqnr, --min-cosine, --max-drop, --min-coverage, "
                                  "--node or --preset, or write \"limits\" into the recipe"));
    return limits;
}

Result<GateLimits> limitsOf(const CheckOptions& options)
{
    GateLimits limits {
        options.minSqnr, options.minCosine, options.maxDrop, options.minCoverage, {}};
    for (const std::string& text : options.nodes) {
        QS_TRY(GateLimits::Node node, nodeLimit(text));
        limits.nodes.push_back(std::move(node));
    }
    if (!options.preset.empty()) {
        const auto preset = gatePreset(options.preset);
        if (!preset)
            return fail(
                makeError(ErrorCode::Usage, "--preset: there is no " + inQuotes(options.preset))
                    .withHint("one of " + joined(gatePresetNames())));
        limits = withLimits(std::move(limits), *preset);
    }
    return limits;
}

/// Reads the document of a result folder.
Result<StoredRun> storedSubject(const CheckOptions& options, const CommandRun& job)
{
    const bool ofModel = !options.recipe.empty() || !options.data.empty() || !options.eval.empty()
        || !options.compareOn.empty() || !options.against.empty() || !options.localTerms.empty();
    if (ofModel)
        return fail(
            makeError(ErrorCode::Usage,
                      "--recipe, --data, --compare-on, --against, --local-terms and --eval are for "
                      "a model's file")
                .withHint(options.subject
                          + " is a result, which has its own recipe, data and metric"));
    return readStoredRun(options.subject, job);
}

/// Fails if a cure of the result's recipe was left out.
Result<void> checkCuresFit(const ResultDocument& document, const std::string& subject)
{
    for (const auto& cure : document.json().value("cures", Json::array()))
        if (const std::string problem = fieldText(cure, "problem"); !problem.empty())
            return fail(makeError(ErrorCode::BadInput,
                                  "--strict: " + unfitCureLine(fieldText(cure, "text"), problem))
                            .inFile(subject));
    return {};
}

/// Makes the result document of the model and the recipe without exports. Adds the recipe's limits
/// to `limits`.
Result<ResultDocument> freshDocument(const CheckOptions& options, GateLimits& limits,
                                     const CommandRun& job)
{
    ModelRun run(options, job);
    QS_CHECK(run.locate());
    QS_TRY(limits, withRecipe(std::move(limits), run.source().recipe));
    QS_CHECK(run.plan());
    QS_CHECK(run.calibrate());
    QS_CHECK(run.convertAndCompare());
    if (!job.group()->isFirst())
        return ResultDocument();
    QS_CHECK(run.evaluate());
    QS_TRY(const std::string text, resultJson(run.parts()));
    return ResultDocument::fromText(text);
}

Result<void> writeReports(const CheckOptions& options, const std::vector<GateCheck>& checks,
                          const std::string& model)
{
    if (!options.junit.empty())
        QS_CHECK(writeFileAtomically(options.junit, junitText(checks, model)));
    if (!options.sarif.empty())
        QS_CHECK(writeFileAtomically(options.sarif, sarifText(checks, model)));
    return {};
}

Result<void> runCheck(CheckOptions options, const CommandRun& job)
{
    QS_TRY(GateLimits limits, limitsOf(options));
    ResultDocument document;
    options.model = options.subject;
    if (isModelFile(options.subject) || isProjectFile(options.subject)) {
        auto made = freshDocument(options, limits, job);
        if (!made)
            return withModelNotes(fail(std::move(made).error()), options.model);
        document = std::move(*made);
    } else {
        QS_TRY(StoredRun stored, storedSubject(options, job));
        QS_TRY(limits, withRecipe(std::move(limits), stored.recipe));
        document = std::move(stored.document);
        if (options.strict)
            QS_CHECK(checkCuresFit(document, options.subject));
        options.model = stored.modelPath;
    }
    if (!job.group()->isFirst())
        return {};
    auto checks = checkResult(document, limits);
    if (!checks)
        return fail(std::move(checks).error().inFile(options.subject));
    QS_CHECK(writeReports(options, *checks, options.model));
    std::string text;
    std::int64_t missed = 0;
    for (const GateCheck& check : *checks) {
        text += (check.passed ? "ok      " : "MISSED  ") + asOneLine(check.message) + "\n";
        missed += check.passed ? 0 : 1;
    }
    QS_CHECK(printOut(text));
    if (missed > 0)
        return fail(makeError(ErrorCode::Numeric,
                              counted(missed, "limit") + " of " + std::to_string(checks->size())
                                  + (missed == 1 ? " is missed" : " are missed"))
                        .inFile(options.subject));
    return {};
}

} // namespace

void addCheckCommand(CLI::App& app, Command& chosen)
{
    auto options = std::make_shared<CheckOptions>();
    CLI::App* verb = app.add_subcommand("check",
                                        "A gate: checks a result, or a model with its recipe, "
                                        "against limits; exits with 1 on a miss");
    verb->add_option("DIR|MODEL", options->subject,
                     "what 'quantize --out' wrote, its result.json, or a model or project to run")
        ->required();
    addMovedOption(*verb, options->movedTo);
    addEditOptions(*verb, options->edits);
    verb->add_option("--recipe", options->recipe,
                     "of a model: the decisions; without one backend x86's own");
    verb->add_option("--data", options->data,
                     "of a model: calibration data; a project has its own");
    verb->add_option("--compare-on", options->compareOn,
                     "of a model: data to measure the loss on, all of it; without one a project's "
                     "own, else the batches of the calibration");
    verb->add_option("--eval", options->eval,
                     "of a model: a command that gets outputs as an .npz and prints one number, "
                     "for --max-drop");
    addDeviceOption(*verb, options->device);
    addAgainstOption(*verb, options->against);
    addLocalTermsOption(*verb, options->localTerms);
    verb->add_flag("--strict", options->strict,
                   "fail on a cure that does not fit; for a model also on all that 'quantize "
                   "--strict' refuses");
    verb->add_option("--min-sqnr", options->minSqnr, "least SQNR of every output, in dB");
    verb->add_option("--min-cosine", options->minCosine, "least cosine of every output");
    verb->add_option("--max-drop", options->maxDrop,
                     "largest fall of top-1, in percentage points, and of the metric of --eval");
    verb->add_option("--min-coverage", options->minCoverage,
                     "least share of the eligible operators that are quantized, in percent");
    verb->add_option("--node", options->nodes,
                     "least SQNR of a node or module: 'head: 35'; may be given several times");
    verb->add_option("--preset", options->preset,
                     "limits to start from: classification, detection, super-resolution, "
                     "embedding, speech");
    verb->add_option("--junit", options->junit, "write the checks as JUnit's XML");
    verb->add_option("--sarif", options->sarif, "write the misses as SARIF 2.1.0");
    verb->callback([options, &chosen] {
        chosen = [options](const CommandRun& job) { return runCheck(*options, job); };
    });
}

} // namespace qs
