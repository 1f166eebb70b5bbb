// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <string>

namespace qs {

/// A table of a result folder for a spreadsheet: a line of titles, then a line a node in graph
/// order with its decision, quantization and errors (RFC 4180, UTF-8; an empty cell where there is
/// nothing). Written atomically. Errors name the file: no result, not a result document, cannot be
/// written.
Result<void> writeCsvReport(const std::string& folder, const std::string& csvPath);

} // namespace qs
