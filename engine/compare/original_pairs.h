// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/compare/compare_unit.h"

#include <vector>

namespace qs {

/// The units whose values the original model has too. Edits keep the ids of nodes; only cumulative
/// errors are compared.
std::vector<CompareUnit> pairedUnits(std::vector<CompareUnit> units, const Graph& original);

/// For each input of the original model, the index of the same input in the edited model. Errors:
/// an edit removed an input, as extracting a part does (BadInput).
Result<std::vector<std::size_t>> pairedInputs(const Graph& original, const Graph& edited);

} // namespace qs
