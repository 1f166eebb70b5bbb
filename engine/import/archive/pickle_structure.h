// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace qs {

/// The fault of nested objects; `parts[i]` are the objects that object i holds. Faults: one holds
/// itself, they nest more than 1000 deep, or one unfolds to far more leaves than `fileSize` bytes
/// can name. Null if they are sound.
const char* structureProblem(const std::vector<std::vector<std::size_t>>& parts,
                             std::size_t fileSize);

} // namespace qs
