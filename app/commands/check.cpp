// SPDX-License-Identifier: Apache-2.0
#include "app/commands/command.h"
#include "app/commands/console.h"
#include "engine/base/atomic_file.h"
#include "engine/base/text.h"
#include "engine/export/stored_run.h"
#include "engine/verify/gate.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace qs {

namespace {

struct CheckOptions
{
    std::string result, preset, junit, sarif;
    std::optional<double> minSqnr, minCosine, maxDrop, minCoverage;
    std::vector<std::string> nodes;
};

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
        limits = withPreset(std::move(limits), *preset);
    }
    if (limits.isEmpty())
        return fail(makeError(ErrorCode::Usage, "nothing is asked of the result")
                        .withHint("give --min-sqnr, --min-cosine, --max-drop, --min-coverage, "
                                  "--node or --preset"));
    return limits;
}

Result<void> runCheck(const CheckOptions& options)
{
    QS_TRY(const GateLimits limits, limitsOf(options));
    QS_TRY(const StoredRun stored, readStoredRun(options.result));
    auto checks = checkResult(stored.document, limits);
    if (!checks)
        return fail(std::move(checks).error().inFile(options.result));
    if (!options.junit.empty())
        QS_CHECK(writeFileAtomically(options.junit, junitText(*checks, stored.modelPath)));
    if (!options.sarif.empty())
        QS_CHECK(writeFileAtomically(options.sarif, sarifText(*checks, stored.modelPath)));
    std::string text;
    std::int64_t missed = 0;
    for (const GateCheck& check : *checks) {
        text += (check.passed ? "ok      " : "MISSED  ") + check.message + "\n";
        missed += check.passed ? 0 : 1;
    }
    QS_CHECK(printOut(text));
    if (missed > 0)
        return fail(makeError(ErrorCode::Numeric,
                              counted(missed, "limit") + " of " + std::to_string(checks->size())
                                  + (missed == 1 ? " is missed" : " are missed"))
                        .inFile(options.result));
    return {};
}

} // namespace

void addCheckCommand(CLI::App& app, Command& chosen)
{
    auto options = std::make_shared<CheckOptions>();
    CLI::App* verb = app.add_subcommand(
        "check", "A gate: holds a result to limits, and exits with 1 where one is missed");
    verb->add_option("DIR", options->result, "what 'quantize --out' wrote, or its result.json")
        ->required();
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
        chosen = [options](const JobContext&) { return runCheck(*options); };
    });
}

} // namespace qs
