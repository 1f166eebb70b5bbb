// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/compare/comparison.h"
#include "engine/configure/recipe.h"
#include "engine/graph/graph.h"

#include <map>
#include <string>
#include <vector>

namespace qs {

/// What a result folder says of the run that filled it. A value.
struct StoredRun
{
    std::string folder;
    std::string document; ///< the text of result.json
    std::string modelPath, modelSha256;
    Recipe recipe;
    std::string calibrationData, dataSha256;
    std::string comparisonData, comparedSha256; ///< path "" = the batches calibrated on
    std::string device;
    bool againstOriginal = false; ///< the comparison is with the model before its edits
    int threads = 0;
    std::map<std::string, std::string> exports; ///< form to file name
    std::map<std::string, std::string> exportHashes; ///< file name to SHA-256
    std::vector<std::string> saturatingFiles; ///< names of those with `SaturatingForm`
};

/// True for a result folder and for the `result.json` in one.
bool isResult(const std::string& path);

/// Reads `result.json` and `recipe.json`. Errors name the file: there is none, or it is not a
/// result; Cancelled.
Result<StoredRun> readStoredRun(const std::string& pathOrFolder, const JobContext& job = {});

/// The errors that a result document holds, by node, and those of outputs and labels; times are not
/// kept. Errors: not a result document, a node that the model does not have.
Result<ComparisonPtr> comparisonFromResult(const std::string& json, const Graph& model);

} // namespace qs
