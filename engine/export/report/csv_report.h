// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <string>
#include <vector>

namespace qs {

/// A table of a result folder for a spreadsheet: a line of titles, then a line a node in graph
/// order with its decision, quantization and errors (RFC 4180, UTF-8; an empty cell where there is
/// nothing). Per channel, `scale_min` and `scale_max` are the least and the greatest scale, `min`
/// and `max` those of all channels; `scale` and `zero_point` are set where all channels have the
/// same. Written atomically. Errors name the file: no result, not a result document, cannot be
/// written.
Result<void> writeCsvReport(const std::string& folder, const std::string& csvPath);

/// One line of a table (RFC 4180): cells with commas, quotes or line ends are quoted.
std::string csvLine(const std::vector<std::string>& cells);

} // namespace qs
