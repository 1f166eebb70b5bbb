// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"
#include "engine/plan/plan.h"

#include <memory>
#include <unordered_map>

namespace qs {

/// A float graph prepared for observation: fused, with folded batch norms and with observer nodes
/// (`kObserveTarget`, one argument, the observer's id on the node). Nodes of the float graph keep
/// their ids; folded parameters are new nodes whose `origin` is the weight or bias of the
/// convolution or linear. A value; share it as PreparedPtr.
struct PreparedModel
{
    GraphPtr model; ///< the float graph as imported
    PlanPtr plan;
    GraphPtr graph; ///< the prepared graph
    /// Maps values of the float graph to values of the prepared graph, before any observer. Values
    /// that fusion removed (a convolution's output before its batch norm) are absent.
    std::unordered_map<ValueRef, ValueRef> valueOf;
    /// The (folded) weight value of each weight observer, in the prepared graph.
    std::unordered_map<ObserverId, ValueRef> observedWeight;
};
using PreparedPtr = std::shared_ptr<const PreparedModel>;

} // namespace qs
