// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/backend_config.h"
#include "engine/plan/names/op_vocabulary.h"
#include "engine/plan/plan.h"

namespace qs {

/// Finds operators that stay float because the backend lists them by another name alone:
/// `torch.relu`, where it has patterns of `torch.nn.functional.relu`. They count as eligible; a
/// finding of kind "other_spelling" for each name says how many there are, what they make pass
/// between int8 and float, and the cure, which is their remedy where an edit can do it. Before the
/// coverage is counted.
void findOtherSpellings(const Graph& graph, const std::vector<OpName>& names,
                        const Backend& backend, Plan& plan);

} // namespace qs
