// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/decide.h"

namespace qs {

/// Keeps operators float whose results only decide which branch runs or whether a
/// loop continues: rounding could change the branch, and no quantized operator reads
/// them.
void applyBranchConditions(const Graph& graph, const Matches& matches,
                           std::vector<Verdicts>& verdicts, std::vector<Decision>& decisions);

} // namespace qs
