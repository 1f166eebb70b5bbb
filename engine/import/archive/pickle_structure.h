// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace qs {

/// What is wrong with objects that hold each other, `parts[i]` being what object i holds: one holds
/// itself, they lie more than 1000 deep in each other, or one unfolds to far more leaves than
/// `fileSize` bytes can name. Null when all is well.
const char* structureProblem(const std::vector<std::vector<std::size_t>>& parts,
                             std::size_t fileSize);

} // namespace qs
