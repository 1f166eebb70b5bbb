// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/export/documents/result_writer.h"

namespace qs {

/// One sentence an output: what the files compute, and why it is not what the reference form does.
std::vector<std::string> saturatingLines(const SaturatingErrors& errors);

} // namespace qs
