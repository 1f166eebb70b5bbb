// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/prepare/fuse_conv_bn.h"

#include <unordered_map>

namespace qs {

/// A map of every value of the graph to itself.
ValueMap identityMap(const Graph& graph);

/// The value of each weight observer: the (folded) parameter as the layer stores it. Errors
/// (Internal): the plan observes a weight that does not exist.
Result<std::unordered_map<ObserverId, ValueRef>> observedWeights(const GraphEdit& edit,
                                                                 const Plan& plan);

/// Inserts an observer node for every activation that the plan observes. An observer of an edge
/// without readers is inserted after the value, for all readers. An observer of an edge with
/// readers is inserted between these readers and the value that they currently read, so that it
/// sees the output of the value's own observer, as in torch.ao. `valueOf` maps the float graph's
/// values. Errors (Internal): the plan observes a value that no longer exists.
Result<bool> insertObservers(GraphEdit& edit, const Plan& plan, const ValueMap& valueOf,
                             const JobContext& job);

} // namespace qs
