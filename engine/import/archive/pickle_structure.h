// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace qs {

/// Returns the fault of nested objects; `parts[i]` are the objects inside object i. Faults: a
/// cycle, more than 1000 levels, or an object that unfolds to far more leaves than `fileSize` bytes
/// can describe. Null without one.
const char* structureProblem(const std::vector<std::vector<std::size_t>>& parts,
                             std::size_t fileSize);

} // namespace qs
