// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/runs/run_record.h"

#include <string>

namespace qs {

/// The run that a word names: a result folder, its result.json, a saved `compare --json` document,
/// a project (its current result) or PROJECT:NAME (a run that it keeps). Logs files that changed
/// since. Errors name the word and its fault.
Result<RunRecordPtr> runArgument(const std::string& word);

/// The result folder that a project names. Errors (NotFound): the project has no result.
Result<std::string> currentResultOf(const std::string& project);

} // namespace qs
