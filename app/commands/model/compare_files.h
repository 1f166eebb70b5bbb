// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/command_run.h"
#include "app/commands/options/edit_options.h"

#include <string>

namespace qs {

struct FileCompareOptions
{
    std::string model, quantized, data;
    std::string recipe; ///< defines how the data are read (`calibration`); empty: the default one
    bool json = false;
    AskedEdits edits = {}; ///< of the float model
};

/// True for a path that is a model file rather than a result.
bool isModelFile(const std::string& path);
/// Fails for a file of a known format that is neither a result nor a model that this program opens.
/// The error names the format and what `compare` accepts.
Result<void> checkComparable(const std::string& path);
/// `compare MODEL --result FILE` for a quantized model of another program: matches operators by
/// module path, then by structure; lists those without a match.
Result<void> runFileCompare(const FileCompareOptions& options, const CommandRun& job);

} // namespace qs
