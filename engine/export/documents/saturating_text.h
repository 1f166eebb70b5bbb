// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/export/documents/result_writer.h"

namespace qs {

/// One sentence for each measured output: its SQNR in these files, and why the reference form gives
/// other values.
std::vector<std::string> saturatingLines(const SaturatingErrors& errors);

} // namespace qs
