// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/text/node_titles.h"
#include "engine/plan/plan.h"

namespace qs {

/// The title of the fused or quantized group that contains the node, else the title of the node.
std::string unitTitle(const NodeTitles& titles, const Plan& plan, const NodePlan* decided,
                      const Node& node);

} // namespace qs
