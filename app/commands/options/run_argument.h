// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/runs/run_record.h"

#include <string>

namespace qs {

/// The run that a word names: a result folder, its result.json, a saved `compare --json` document,
/// a project (its current result) or PROJECT:NAME (a run that it keeps). What was changed since
/// goes to the log. Errors name the word and what is wrong with it.
Result<RunRecordPtr> runArgument(const std::string& word);

/// The result folder that a project names. Errors (NotFound): it has none.
Result<std::string> currentResultOf(const std::string& project);

} // namespace qs
