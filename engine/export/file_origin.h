// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/import/archive/export_record.h"

namespace qs {

/// What an exported file of any form says of its origin; nothing where it cannot be read or says
/// nothing.
std::optional<ExportRecord> recordOfFile(const std::string& path);

/// One line for each thing in which that is not what the file runs under here; empty for files that
/// this program did not write.
std::vector<std::string> originFindings(const std::string& path);

} // namespace qs
