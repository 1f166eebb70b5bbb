// SPDX-License-Identifier: Apache-2.0
#include "app/commands/compare_files.h"

#include "app/commands/console.h"
#include "app/commands/planned_model.h"
#include "app/commands/result_text.h"
#include "engine/base/log.h"
#include "engine/base/text.h"
#include "engine/compare/file_comparator.h"
#include "engine/convert/quantized_engine.h"
#include "engine/export/file_origin.h"
#include "engine/export/result_writer.h"
#include "engine/import/file_kind.h"
#include "engine/import/importer.h"

#include <filesystem>

namespace qs {

namespace {

std::string namesText(const std::string& title, const std::vector<std::string>& names)
{
    if (names.empty())
        return {};
    return title + " (" + std::to_string(names.size()) + "): " + joined(names) + "\n";
}

std::string comparisonText(const Graph& floating, const Graph& converted,
                           const FileComparison& comparison)
{
    TextTable table({"node", "operator", "module", "compared with", ">cumulative", ">cosine"});
    for (std::size_t i = 0; i < comparison.match.values.size(); ++i) {
        const ValueMatch& match = comparison.match.values[i];
        const auto& error = comparison.errors[i];
        const Node& node = floating.get(match.floating.node);
        table.add({node.name, node.target, node.scope.path,
                   converted.get(match.converted.node).name, dbText(error),
                   error ? fixedText(error->cosine, 5) : "-"});
    }
    std::string text = "Signal to quantization noise in dB, in all, of every operator with a "
                       "counterpart\n\n"
        + table.text() + "\n";
    for (const OutputError& output : comparison.outputs)
        text += "output " + output.name + ": " + dbText(output.cumulative) + " dB, "
            + counted(comparison.samples, "sample") + "\n";
    text += agreementText(comparison.agreement, comparison.samples);
    return text
        + namesText("without a counterpart in " + converted.info().path,
                    comparison.match.unmatchedFloat)
        + namesText("without a counterpart in the float model",
                    comparison.match.unmatchedConverted);
}

/// The backend of the result that the file is an export of; empty where it is none.
std::string backendOfResult(const std::string& quantized)
{
    namespace fs = std::filesystem;
    const fs::path folder = fs::path(quantized).parent_path();
    std::error_code code;
    if (!fs::exists(folder / "result.json", code))
        return {};
    const auto recipe = readRecipe((folder / "recipe.json").string());
    return recipe ? recipe->backend : std::string();
}

/// Of an exported file the engine that its record names; else that of the result it lies in.
std::string engineFor(const std::string& path)
{
    const std::string ofResult = backendOfResult(path);
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

bool isModelFile(const std::string& path)
{
    const auto look = lookAtFile(path);
    return look && look->kind == FileKind::Zip;
}

Result<void> runFileCompare(const FileCompareOptions& options, const JobContext& job)
{
    QS_TRY(const GraphPtr floating, importModel(options.model, job));
    QS_TRY(const GraphPtr converted, openQuantized(options.quantized, job));
    for (const std::string& finding : originFindings(options.quantized))
        warn(options.quantized + ": " + finding);
    if (!converted->info().converted)
        warn(options.quantized + " holds no quantized operator");
    QS_TRY(const Recipe recipe, recipeOrDefault(options.recipe));
    QS_TRY(const auto data,
           openDataset(options.data, *floating, wholeDatasetOptions(recipe.calibration)));
    auto comparison = compareFiles(floating, converted, *data, job);
    if (!comparison)
        return fail(std::move(comparison).error());
    return printOut(options.json ? fileComparisonJson(*floating, *converted, *comparison)
                                 : comparisonText(*floating, *converted, *comparison));
}

} // namespace qs
