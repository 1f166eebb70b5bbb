// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/text/node_titles.h"
#include "engine/plan/plan.h"

namespace qs {

/// The title of the fused or quantized group that the node is a member of, else its own.
std::string unitTitle(const NodeTitles& titles, const Plan& plan, const NodePlan* decided,
                      const Node& node);

} // namespace qs
