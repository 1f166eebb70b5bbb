// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/import/archive/export_record.h"

namespace qs {

/// The record of origin in an exported file of any form; empty if the file has none or cannot be
/// read.
std::optional<ExportRecord> recordOfFile(const std::string& path);

/// One line for each difference between a file's record of origin and this program's runtime.
/// Empty for files without a record.
std::vector<std::string> originFindings(const std::optional<ExportRecord>& record);

} // namespace qs
