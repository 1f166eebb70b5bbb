// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"
#include "engine/graph/graph.h"
#include "engine/result/result_document.h"

#include <map>
#include <string>
#include <vector>

namespace qs {

/// The facts of a run stored in its result folder. A value type.
struct StoredRun
{
    std::string folder;
    ResultDocument document;
    std::string modelPath, modelSha256;
    Recipe recipe;
    std::string recipeSha256; ///< hash of the recipe.json next to it; "" = unknown
    std::string calibrationData, dataSha256;
    std::string comparisonData, comparedSha256; ///< path "" = the calibration batches
    std::string device;
    bool againstOriginal = false; ///< compared with the model before its edits
    bool allLocalTerms = false; ///< `RunSettings::allLocalTerms`
    int threads = 0;
    std::map<std::string, std::string> exports; ///< form to file name
    std::map<std::string, std::string> exportHashes; ///< file name to SHA-256
    std::vector<std::string> saturatingFiles; ///< names of the exports with `SaturatingForm`
};

/// True for a result folder and for its `result.json`.
bool isResult(const std::string& path);

/// Reads a result document and the `recipe.json` next to it. Errors: those of
/// `ResultDocument::read` and `readRecipe`.
Result<StoredRun> readStoredRun(const std::string& fileOrFolder, const JobContext& job = {});

/// Returns the errors in a result document by node, and those of outputs and labels, without times.
/// Ignores nodes that the model does not have. Fails if it is not a result document.
Result<ComparisonPtr> comparisonFromResult(const ResultDocument& document, const Graph& model);

} // namespace qs
