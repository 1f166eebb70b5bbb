// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <string>
#include <vector>

namespace qs {

/// Replaces this process by the program `words[0]`, searched in PATH if it has no slash. Unblocks
/// all signals first. Returns only on failure (Io).
Result<void> become(std::vector<std::string> words);

} // namespace qs
