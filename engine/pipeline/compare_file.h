// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/compare/files/file_comparison.h"
#include "engine/configure/recipe.h"

#include <string>

namespace qs {

/// A quantized model of any origin and the float model it was made from.
struct FileCompareRequest
{
    GraphPtr floating; ///< as its file holds it, without edits
    std::string quantized; ///< a .pt2 or TorchScript file
    std::string data; ///< as `RunSettings::calibrationData`
    CalibrationSettings reading; ///< how the data are cut and read; `batches` 0: all of them
};

struct FileCompareResult
{
    GraphPtr converted;
    FileComparison comparison;
    std::string document; ///< `fileComparisonJson`
};

/// Opens the quantized file with the engine that it was made for and compares it with the float
/// model over the data, for command line and window. Assumptions about the file's origin go to the
/// log. Errors: of reading the file and the data, of running either model.
Result<FileCompareResult> compareWithFile(const FileCompareRequest& request, const JobContext& job);

} // namespace qs
