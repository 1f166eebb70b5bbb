// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/configure/backend_config.h"
#include "engine/configure/qconfig_mapping.h"
#include "engine/graph/graph.h"
#include "engine/plan/names/op_vocabulary.h"

#include <set>

namespace qs {

/// The canonical names of every operator and module in a backend's patterns.
std::set<std::string> patternNames(const Backend& backend);

/// Refuses a backend whose patterns name an operator of an extension pack ("torch.ops.mypack.f")
/// that no loaded pack has; the error names the nearest one.
Result<void> checkPackOperators(const Backend& backend);

/// Refuses a recipe's rule on a type that neither the model, the backend nor PyTorch knows; the
/// error names the nearest known one. Types that are known but absent from the model pass.
Result<void> checkObjectTypes(const QConfigMapping& mapping, const Graph& graph,
                              const std::vector<OpName>& names, const Backend& backend);

} // namespace qs
