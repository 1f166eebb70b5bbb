// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/compare_file.h"

#include "engine/base/log.h"
#include "engine/base/text.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/compare/files/file_comparator.h"
#include "engine/convert/lowering/quantized_engine.h"
#include "engine/execute/random/random_draws.h"
#include "engine/export/documents/result_writer.h"
#include "engine/export/file_origin.h"
#include "engine/import/importer.h"

#include <filesystem>

namespace qs {

namespace {

/// The backend of the result that the file was exported from; empty without such a result.
std::string backendOfResult(const std::string& quantized)
{
    namespace fs = std::filesystem;
    const fs::path folder = fs::path(quantized).parent_path();
    std::error_code code;
    if (!fs::exists(folder / "result.json", code))
        return {};
    const auto recipe = readRecipe((folder / "recipe.json").string());
    return recipe ? recipe->target() : std::string();
}

/// The engine that the file's record of origin names, else that of the result in its folder.
std::string engineFor(const std::string& path)
{
    std::string ofResult = backendOfResult(path);
    const auto record = recordOfFile(path);
    if (!record || record->engine.empty())
        return ofResult;
    selectEngine(ofResult);
    const std::string usual = currentEngine();
    selectEngine(record->engine);
    if (currentEngine() == record->engine && record->engine != usual)
        note(path + ": made for the quantized engine " + inQuotes(record->engine)
             + ": compared under it, not under " + inQuotes(usual));
    return record->engine;
}

/// Opens a quantized model with the engine that it was made for, which packs its weights.
Result<GraphPtr> openQuantized(const std::string& path, const JobContext& job)
{
    const std::string made = engineFor(path);
    if (!made.empty())
        selectEngine(made);
    QS_TRY(GraphPtr model, importModel(path, job));
    const std::string needed = backendNeededBy(*model);
    if (needed.empty() || needed == made)
        return model;
    selectEngine(needed);
    return importModel(path, job);
}

} // namespace

Result<FileCompareResult> compareWithFile(const FileCompareRequest& request, const JobContext& job)
{
    FileCompareResult found;
    QS_TRY(found.converted, openQuantized(request.quantized, job));
    for (const std::string& finding : originFindings(recordOfFile(request.quantized)))
        warn(request.quantized + ": " + finding);
    if (!found.converted->info().converted)
        warn(request.quantized + " holds no quantized operator");
    if (!drawAlike(*request.floating, *found.converted))
        warn(request.quantized + ": " + drawingText(*request.floating, *found.converted)
             + ": the errors are those of chance as well; " + kDrawNothing);
    QS_TRY(const auto data,
           openDataset(request.data, *request.floating, datasetOptions(request.reading)));
    QS_TRY(found.comparison, compareFiles(request.floating, found.converted, *data, job));
    found.document = fileComparisonJson(*request.floating, *found.converted, found.comparison);
    return found;
}

} // namespace qs
