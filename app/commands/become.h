// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <string>
#include <vector>

namespace qs {

/// Replaces this process by the program `words[0]`, looked for in PATH where it has no slash, with
/// the signals unblocked that this program waits for. Returns only where that fails (Io).
Result<void> become(std::vector<std::string> words);

} // namespace qs
