// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"
#include "engine/plan/plan.h"

#include <memory>
#include <unordered_map>

namespace qs {

/// A float graph made ready to observe: fused, batch norms folded, observer nodes inserted
/// (`kObserveTarget`, one argument, the observer's id on the node). Nodes that carry on from the
/// float graph keep their id; folded parameters are new nodes whose `origin` is the convolution's
/// or linear's weight or bias. A value; share as PreparedPtr.
struct PreparedModel
{
    GraphPtr model; ///< the float graph as imported
    PlanPtr plan;
    GraphPtr graph; ///< the prepared graph
    /// Where each value of the float graph lives in the prepared graph, before any observer; a
    /// value that fusion made disappear (a convolution's output before its batch norm) is absent.
    std::unordered_map<ValueRef, ValueRef> valueOf;
    /// The (folded) weight value of each weight observer, in the prepared graph.
    std::unordered_map<ObserverId, ValueRef> observedWeight;
};
using PreparedPtr = std::shared_ptr<const PreparedModel>;

} // namespace qs
