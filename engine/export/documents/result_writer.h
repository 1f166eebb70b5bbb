// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/corrected_shapes.h"
#include "engine/calibrate/observations.h"
#include "engine/compare/files/file_comparison.h"
#include "engine/configure/recipe.h"
#include "engine/convert/converted_model.h"
#include "engine/convert/ranges/stored_qparams.h"
#include "engine/convert/ranges/value_alternatives.h"
#include "engine/import/trace_report.h"
#include "engine/result/result_document.h"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace qs {

/// What exports that keep to their observers' ranges compute (`SaturatingForm`).
struct SaturatingErrors
{
    std::vector<std::string> files; ///< names
    std::int64_t values = 0; ///< whose range is narrower than their integers' type
    std::vector<OutputError> outputs; ///< against the float model
};

struct CureExpansion;

/// Everything a result document reports (design 4). Pointers may be null where a stage has not run;
/// borrowed for the call.
struct ResultParts
{
    const Graph* model = nullptr;
    const Plan* plan = nullptr;
    const Recipe* recipe = nullptr;
    const ConvertedModel* converted = nullptr;
    const Observations* observations = nullptr;
    const Comparison* comparison = nullptr;
    const AlternativesTable* alternatives = nullptr; ///< written only on request
    std::string device;
    int threads = 0;
    std::map<std::string, double> timingSeconds; ///< stage name to seconds
    std::map<std::string, std::string> exports; ///< form to file name
    std::map<std::string, std::string> exportHashes; ///< file name to SHA-256
    std::string recipeSha256; ///< of recipe.json as written beside the result
    std::string backendSha256; ///< of backend.json beside it; "" for a shipped backend
    std::string calibrationData; ///< path or "sample"
    std::string dataSha256; ///< of their content; "" = not known
    std::string comparisonData, comparedSha256; ///< the same; path "" = the calibration's batches
    std::optional<SaturatingErrors> saturating; ///< where an export's integers are cut elsewhere
    std::map<std::string, double> evaluation; ///< the user's own metric of "float" and "int8"
    std::shared_ptr<const ResultDocument::Json> why {}; ///< `whyDocument`; null without causes
    std::shared_ptr<const CureExpansion> cures {}; ///< of `recipe`; null: cures are left out
};

/// `result.json` exactly as in design 4, two-space indent. Error: Cancelled.
Result<std::string> resultJson(const ResultParts& parts, const JobContext& job = {});
/// Bytes of main memory that a run of a plan takes.
struct PlannedMemory
{
    std::int64_t peak = 0;
    std::int64_t batchSize = 0;
    std::vector<std::pair<std::string, std::int64_t>> stages; ///< by name, in order
};
/// `plan --json`: the target, the warnings, the nodes as in `result.json` without numbers, and what
/// a run takes.
std::string planJson(const Graph& model, const Plan& plan, const Recipe& recipe,
                     const PlannedMemory& memory);

/// One of two plans of a model, with the recipe it came from. Borrows both.
struct PlanSide
{
    const Recipe& recipe;
    const Plan& plan;
};
/// `plan --diff --json`: target, coverage and warnings of both plans, and the operators they decide
/// differently with both decisions.
std::string planDiffJson(const Graph& model, const PlanSide& before, const PlanSide& after);
/// `inspect --json`; with what the export helper recorded, where there is a record, and with a
/// recipe the scopes that it shows as one node. With `stored`, nodes of an already quantized model
/// say how they quantize.
std::string inspectJson(const Graph& model, const TraceReport* trace = nullptr,
                        const Recipe* recipe = nullptr,
                        const std::vector<StoredQParams>* stored = nullptr);

/// `compare MODEL --result FILE --json`: a result document of a quantized file that came from
/// elsewhere: matched nodes with their cumulative error and the node they were matched with, the
/// outputs, and what found no match on either side.
std::string fileComparisonJson(const Graph& floating, const Graph& converted,
                               const FileComparison& comparison);

/// What a result document holds of a quantization: the parameters, and of each observer the range
/// it saw (nothing else of the statistics).
struct StoredQuantization
{
    QParamsTable qparams;
    Observations observations;
    std::string recipeSha256; ///< of the recipe.json written beside it
    std::string backendSha256; ///< of the backend.json written beside it; "" where there is none
    std::string calibrationData, dataSha256; ///< path and content of the calibration data
    /// Empty where an older document does not tell them.
    std::optional<std::vector<RefusedKernel>> refused;
};

/// Error: a result of another model's hash. For asking before anything is run.
Result<void> checkResultIsOf(const Graph& model, const ResultDocument& document);

/// The shapes that the run corrected in the model's file. Errors: not a result document.
Result<std::vector<CorrectedShape>> correctedShapesOf(const Graph& model,
                                                      const ResultDocument& document);

/// Reads back what `resultJson` wrote for the same model and plan. Errors: not a result document,
/// another model's hash, a node without the quantization that the plan wants, an invalid scale.
Result<StoredQuantization> quantizationFromResult(const ResultDocument& document,
                                                  const Graph& model, const Plan& plan);

/// One self-contained HTML page from a result folder.
Result<void> writeHtmlReport(const std::string& folder, const std::string& htmlPath);

} // namespace qs
