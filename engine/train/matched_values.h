// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/train/training_graph.h"

#include <string>
#include <vector>

namespace qs {

/// The values with these names, which are those of nodes or, for the value that a module returns,
/// of modules. A node inside a fused group stands for the group's result, since conversion keeps no
/// other. Errors (Usage): no such name, with a similar one; a value that is not a tensor of floats.
Result<std::vector<ValueRef>> matchedValues(const TrainingGraph& graph,
                                            const std::vector<std::string>& names);

/// The graph with these values as further outputs, after its own; rounded, where one fake quantizer
/// observes them.
GraphPtr withOutputs(const GraphPtr& graph, const std::vector<ValueRef>& values);

} // namespace qs
