// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/graph/graph.h"

#include <string>

namespace qs {

/// Opens a model file: detects its kind by content, reads it, functionalizes in-place operators,
/// verifies. Executes nothing from the file. Weights are read when first used. Errors (BadInput,
/// one line with file and cause): missing, empty, truncated, corrupt or foreign file; a Python
/// pickle (the hint is the torch.export recipe); a newer major schema. A newer minor opens with a
/// note. An unknown operator becomes an opaque node.
Result<GraphPtr> importModel(const std::string& path, const JobContext& job = {});

} // namespace qs
