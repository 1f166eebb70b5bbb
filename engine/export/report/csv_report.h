// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <string>
#include <vector>

namespace qs {

/// Writes the result of `folder` as a table to `csvPath` (RFC 4180, UTF-8): a line of titles, then
/// one line per node in graph order with its decision, quantization and errors. A missing value is
/// an empty cell. With several channels, `scale_min` and `scale_max` are the least and greatest
/// scale, `min` and `max` the least and greatest value of all channels; `scale` and `zero_point`
/// are empty if the channels differ. Writes atomically. Fails, naming the file, if the folder has
/// no result, the result is not a result document, or the table cannot be written.
Result<void> writeCsvReport(const std::string& folder, const std::string& csvPath);

/// One line of a table (RFC 4180), with its line end. Cells with commas, quotes or line ends are
/// quoted; formulas get a leading apostrophe.
std::string csvLine(const std::vector<std::string>& cells);

} // namespace qs
