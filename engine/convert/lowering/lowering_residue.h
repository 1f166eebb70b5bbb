// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/convert/converted_model.h"
#include "engine/convert/lowering/lower.h"

namespace qs {

/// The residue of lowering, for `ConvertedModel::residue`. `model.reference` and `model.lowered`
/// must be set.
std::vector<Residue> findResidue(const ConvertedModel& model, const LoweredGraph& lowered);

} // namespace qs
