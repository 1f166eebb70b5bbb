// SPDX-License-Identifier: Apache-2.0
#include "app/commands/model/compare_files.h"

#include "app/commands/model/planned_model.h"
#include "app/commands/text/console.h"
#include "app/commands/text/result_text.h"
#include "engine/base/text.h"
#include "engine/graph/text/node_titles.h"
#include "engine/import/file_kind.h"
#include "engine/import/importer.h"
#include "engine/pipeline/compare_file.h"

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
    const NodeTitles titles(floating);
    TextTable table({"layer", "compared with", ">cumulative", ">cosine"});
    for (std::size_t i = 0; i < comparison.match.values.size(); ++i) {
        const ValueMatch& match = comparison.match.values[i];
        const auto& error = comparison.errors[i];
        const Node& node = floating.get(match.floating.node);
        table.add({titles.of(node), converted.get(match.converted.node).name, dbText(error),
                   error ? fixedText(error->cosine, 5) : "-"});
    }
    std::string text = "Signal to quantization noise in dB, in all, of every operator with a "
                       "counterpart\n\n"
        + table.text() + "\n" + samplesText(comparison.sampleErrors);
    for (const OutputError& output : comparison.outputs)
        text += "output " + output.name + ": " + dbWords(output.cumulative) + ", "
            + counted(comparison.samples, "sample") + "\n";
    text += agreementText(comparison.agreement, comparison.samples);
    return text
        + namesText("without a counterpart in " + converted.info().path,
                    comparison.match.unmatchedFloat)
        + namesText("without a counterpart in the float model",
                    comparison.match.unmatchedConverted);
}

} // namespace

bool isModelFile(const std::string& path)
{
    const auto sniff = sniffFile(path);
    return sniff && sniff->kind == FileKind::Zip;
}

Result<void> checkComparable(const std::string& path)
{
    const auto sniff = sniffFile(path);
    if (!sniff || !sniff->isNamed)
        return {};
    return fail(
        makeError(ErrorCode::BadInput, "is not a result or a quantized model but " + sniff->what)
            .inFile(path)
            .withHint(sniff->isWrapping
                          ? sniff->way
                          : "compare takes a result folder, a quantized .pt2 or TorchScript; "
                            "'quantscope verify DIR' runs the ONNX export of a result and "
                            "reports its loss"));
}

Result<void> runFileCompare(const FileCompareOptions& options, const CommandRun& job)
{
    FileCompareRequest request;
    QS_TRY(const Recipe recipe, recipeOrDefault(options.recipe, job));
    StageChain chain;
    const Recipe asFloat = withAskedEdits(defaultRecipe(), options.edits);
    QS_TRY(const EditedModelPtr floating, openEdited(chain, options.model, asFloat, job));
    request.floating = floating->graph;
    request.quantized = options.quantized;
    request.data = options.data;
    request.reading = recipe.calibration;
    request.reading.batches = 0; // use all of the data
    QS_TRY(const FileCompareResult found, compareWithFile(request, job));
    return printOut(options.json
                        ? found.document
                        : comparisonText(*request.floating, *found.converted, found.comparison));
}

} // namespace qs
