// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph_edit.h"
#include "engine/plan/plan.h"

namespace qs {

/// Appends an observer of the value; returns the observer's output.
ValueRef insertObserver(GraphEdit& edit, ValueRef value, ObserverId id);

/// Replaces each module that the plan observes inside (`CustomModule`) by a `kModuleTarget` node
/// whose body computes the same step by step and has the plan's inner observers. The node keeps its
/// id and its outputs. `model` is the float graph. Returns whether anything changed.
bool observeModules(GraphEdit& edit, const Graph& model, const Plan& plan);

} // namespace qs
