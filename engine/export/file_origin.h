// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/import/archive/export_record.h"

namespace qs {

/// The record of origin of an exported file of any form; nothing if it cannot be read or has
/// none.
std::optional<ExportRecord> recordOfFile(const std::string& path);

/// One line for each difference between that and the runtime here; empty for files that this
/// program did not write.
std::vector<std::string> originFindings(const std::string& path);

} // namespace qs
