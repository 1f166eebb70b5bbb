// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/plan.h"

#include <QString>

namespace qs {

/// What a plan says of the node of that name, which the graph must have.
inline const NodePlan& nodeOf(const Plan& plan, const Graph& graph, const std::string& name)
{
    return *plan.tryGet(graph, graph.tryFind(name)->id);
}

inline QString reasonOf(const Plan& plan, const Graph& graph, const std::string& name)
{
    return QString::fromStdString(nodeOf(plan, graph, name).reason.text());
}

} // namespace qs
