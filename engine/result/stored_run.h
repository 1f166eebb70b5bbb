// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"
#include "engine/graph/graph.h"
#include "engine/result/result_document.h"

#include <map>
#include <string>
#include <vector>

namespace qs {

/// What a result folder says of the run that filled it. A value.
struct StoredRun
{
    std::string folder;
    ResultDocument document;
    std::string modelPath, modelSha256;
    Recipe recipe;
    std::string recipeSha256; ///< of the recipe.json written beside it; "" = not known
    std::string calibrationData, dataSha256;
    std::string comparisonData, comparedSha256; ///< path "" = the batches calibrated on
    std::string device;
    bool againstOriginal = false; ///< the comparison is with the model before its edits
    bool allLocalTerms = false; ///< `RunSettings::allLocalTerms`
    int threads = 0;
    std::map<std::string, std::string> exports; ///< form to file name
    std::map<std::string, std::string> exportHashes; ///< file name to SHA-256
    std::vector<std::string> saturatingFiles; ///< names of those with `SaturatingForm`
};

/// True for a result folder and for the `result.json` in one.
bool isResult(const std::string& path);

/// Reads a result document and the `recipe.json` beside it. Errors: those of
/// `ResultDocument::read`, of `readRecipe`.
Result<StoredRun> readStoredRun(const std::string& fileOrFolder, const JobContext& job = {});

/// The errors that a result document holds, by node, and those of outputs and labels; times are not
/// kept. Nodes that the model does not have are left out. Errors: not a result document.
Result<ComparisonPtr> comparisonFromResult(const ResultDocument& document, const Graph& model);

} // namespace qs
