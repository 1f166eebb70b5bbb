// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/execute/tensor_store.h"
#include "engine/graph/given_observations.h"
#include "engine/graph/graph_edit.h"

#include <optional>
#include <string>
#include <vector>

namespace qs {

/// Location of a fake quantizer's state.
struct FakeQuantizerPlace
{
    std::string path; ///< path of its module: "conv.weight_fake_quant"; "" = unknown
    /// Nodes of the module's call, if it is decomposed into several operators.
    std::vector<NodeId> nodes;
};

/// Returns the observation of `value` by the fake quantizer `node`, with `readers` empty. nullopt
/// if it never observed a value or computes its scale. Fails if a stored tensor cannot be read.
Result<std::optional<GivenObservation>> readGiven(const GraphEdit& edit, const TensorStore& store,
                                                  const Node& node, ValueRef value,
                                                  const FakeQuantizerPlace& place);

} // namespace qs
