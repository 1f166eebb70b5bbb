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
#include "engine/import/archive/export_record.h"
#include "engine/import/trace_report.h"
#include "engine/result/result_document.h"
#include "engine/result/result_figures.h"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace qs {

/// Errors of the exports whose integers saturate at their observers' ranges (`SaturatingForm`).
struct SaturatingErrors
{
    std::vector<std::string> files; ///< file names of these exports
    std::int64_t values = 0; ///< number of values whose range is narrower than their integer type
    std::vector<OutputError> outputs; ///< against the float model
};

struct CureExpansion;

/// Input of a result document (design 4). Pointers are borrowed for the call; those of stages that
/// have not run are null.
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
    int ranks = 1; ///< processes that shared the data
    std::map<std::string, double> timingSeconds; ///< stage name to seconds
    std::map<std::string, std::string> exports; ///< form to file name
    std::map<std::string, std::string> exportHashes; ///< file name to SHA-256
    std::string recipeSha256; ///< of recipe.json as written beside the result
    std::string backendSha256; ///< of backend.json beside it; "" for a shipped backend
    std::string calibrationData; ///< path or "sample"
    std::string dataSha256; ///< of the calibration data's content; "" = not known
    std::string comparisonData, comparedSha256; ///< the same; path "" = the calibration's batches
    std::optional<SaturatingErrors> saturating; ///< if exports saturate at observers' ranges
    std::optional<Evaluation> evaluation; ///< the user's metric
    std::shared_ptr<const ResultDocument::Json> why {}; ///< `whyDocument`; null without causes
    std::shared_ptr<const ResultDocument::Json> search {}; ///< `searchSummary`; null without one
    std::shared_ptr<const CureExpansion> cures {}; ///< of `recipe`; null: cures are left out
};

/// Text of `result.json` as in design 4, indented by two spaces. Fails only if cancelled.
Result<std::string> resultJson(const ResultParts& parts, const JobContext& job = {});
/// Estimated memory of a run of a plan, in bytes: main memory, and what must be free on a device.
struct PlannedMemory
{
    std::int64_t peak = 0;
    std::int64_t batchSize = 0; ///< samples per batch
    std::int64_t device = 0; ///< bytes that must be free on a device
    std::vector<std::pair<std::string, std::int64_t>> stages; ///< bytes by stage, in order
};
/// Text of `plan --json`: the target, the warnings, the nodes as in `result.json` but without
/// numbers, the crossings, and the memory of a run.
std::string planJson(const Graph& model, const Plan& plan, const Recipe& recipe,
                     const PlannedMemory& memory);

/// One of two plans of a model, with the recipe it came from. Borrows both.
struct PlanSide
{
    const Recipe& recipe;
    const Plan& plan;
};
/// Text of `plan --diff --json`: target, coverage and warnings of both plans, and the nodes whose
/// decisions differ, with both decisions.
std::string planDiffJson(const Graph& model, const PlanSide& before, const PlanSide& after);
/// Text of `inspect --json`. Pointers may be null. `trace` adds what the export helper recorded,
/// `recipe` the scopes that it shows as one node, `stored` the quantization parameters of an
/// already quantized model, `record` the file's record of origin.
std::string inspectJson(const Graph& model, const TraceReport* trace = nullptr,
                        const Recipe* recipe = nullptr,
                        const std::vector<StoredQParams>* stored = nullptr,
                        const std::optional<ExportRecord>& record = {});

/// Text of `compare MODEL --result FILE --json`: a result document for a quantized file from
/// another program. It lists matched nodes with their cumulative error and their counterpart, the
/// outputs, and the unmatched nodes of both sides.
std::string fileComparisonJson(const Graph& floating, const Graph& converted,
                               const FileComparison& comparison);

/// The quantization that a result document holds: the parameters, and each observer's range (no
/// other statistics).
struct StoredQuantization
{
    QParamsTable qparams;
    Observations observations;
    std::string recipeSha256; ///< of the recipe.json written beside it
    std::string backendSha256; ///< of the backend.json written beside it; "" if none was written
    std::string calibrationData, dataSha256; ///< path and content of the calibration data
    /// Kernels that failed their check; empty if the document is too old to list them.
    std::optional<std::vector<RefusedKernel>> refused;
};

/// Fails (BadInput) if the result was made from a model with another hash. Runs nothing.
Result<void> checkResultIsOf(const Graph& model, const ResultDocument& document);

/// The shapes of the model's file that the run corrected. Fails if it is not a result document.
Result<std::vector<CorrectedShape>> correctedShapesOf(const Graph& model,
                                                      const ResultDocument& document);

/// Reads the quantization that `resultJson` wrote for the same model and plan. Fails (BadInput) if
/// it is not a result document, the model's hash differs, a node lacks the quantization that the
/// plan requires or has another kind, or a scale or zero point is not valid.
Result<StoredQuantization> quantizationFromResult(const ResultDocument& document,
                                                  const Graph& model, const Plan& plan);

/// Writes a self-contained HTML page about the result of `folder` to `htmlPath`, atomically. Fails
/// if the folder has no valid result or a file cannot be read or written.
Result<void> writeHtmlReport(const std::string& folder, const std::string& htmlPath);

} // namespace qs
