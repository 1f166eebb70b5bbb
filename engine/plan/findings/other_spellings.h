// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/backend_config.h"
#include "engine/plan/names/op_vocabulary.h"
#include "engine/plan/plan.h"

namespace qs {

/// Finds operators that stay float because the backend lists them only by another name:
/// `torch.relu`, if it has patterns of `torch.nn.functional.relu`. They count as eligible. Adds a
/// finding of kind "other_spelling" for each name: their number, the bytes converted between int8
/// and float because of them, and the cure; also as their remedy if an edit can apply it. Call
/// before the coverage is counted.
void findOtherSpellings(const Graph& graph, const std::vector<OpName>& names,
                        const Backend& backend, Plan& plan);

} // namespace qs
