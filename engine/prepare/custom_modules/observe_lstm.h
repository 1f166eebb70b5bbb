// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph_edit.h"
#include "engine/plan/plan.h"

namespace qs {

/// Appends an observer of the value to a draft and returns what it passes on.
ValueRef insertObserver(GraphEdit& edit, ValueRef value, ObserverId id);

/// Turns each LSTM that the plan quantizes from within into one `kLstmTarget` node, whose body
/// computes the same in single steps and observes what the plan observes inside (torch.ao
/// `torch.ao.nn.quantizable.LSTM.from_float`). The node keeps its id, outputs and its first three
/// arguments. `model` is the float graph. Returns whether anything changed.
bool observeLstms(GraphEdit& edit, const Graph& model, const Plan& plan);

} // namespace qs
