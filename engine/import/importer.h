// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/graph/graph.h"

#include <functional>
#include <string>

namespace qs {

/// A function with the results of `fileSha256`.
using FileHasher = std::function<Result<std::string>(const std::string&, const JobContext&)>;

/// Opens a model file: detects its kind by content, reads it, functionalizes in-place operators,
/// verifies. Executes nothing from the file. Reads weights on first use. Fails (BadInput, one line
/// with file and cause) on a missing, empty, truncated, corrupt or foreign file, a Python pickle
/// (the hint is the torch.export recipe), or a newer major schema version. A newer minor version
/// opens with a note. Unknown operators become opaque nodes. `hash`: computes the file's hash; null
/// for `fileSha256`.
Result<GraphPtr> importModel(const std::string& path, const JobContext& job = {},
                             const FileHasher& hash = {});

} // namespace qs
