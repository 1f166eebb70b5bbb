// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/runs/run_record.h"

#include <string>

namespace qs {

/// Reads the run that an argument names: a result folder, its result.json, a saved `compare --json`
/// document, a project (its current result) or PROJECT:NAME (a stored run). Logs files that changed
/// since. Errors name the argument and the problem.
Result<RunRecordPtr> runArgument(const std::string& word);

/// Returns the result folder of a project. Fails (NotFound) if the project has no result.
Result<std::string> currentResultOf(const std::string& project);

} // namespace qs
