// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/plan/plan.h"

namespace qs {

/// The operator that a user names: by the graph's name ("relu_2"), by its title or that of the
/// fusion that it belongs to ("block1.conv2 + bn2"), or by a module's path. Of a fusion and of a
/// module that is the last operator, whose value they hand on. Errors: Usage, with the nearest
/// name.
Result<NodeId> namedNode(const Graph& graph, const Plan& plan, const std::string& text);

} // namespace qs
