// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/compare/compare_unit.h"

#include <vector>

namespace qs {

/// The units whose values the original model has too. A node keeps its id through edits; only its
/// value is compared.
std::vector<CompareUnit> pairedUnits(std::vector<CompareUnit> units, const Graph& original);

/// For each input of the original model, which of the edited one's it is. An edit takes inputs away
/// (a part that was extracted) or leaves them. Errors: one is missing (BadInput).
Result<std::vector<std::size_t>> pairedInputs(const Graph& original, const Graph& edited);

} // namespace qs
