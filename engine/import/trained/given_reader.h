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

/// The place of a fake quantizer's state.
struct FakeQuantizerPlace
{
    std::string path; ///< of its module: "conv.weight_fake_quant"; "" = unknown
    std::vector<NodeId> nodes; ///< the module's call, where it is spelled as several operators
};

/// The observation of `value` by the fake quantizer `node`, without readers; nothing if it never
/// observed a value or computes its scale. Errors: a stored tensor that cannot be read.
Result<std::optional<GivenObservation>> readGiven(const GraphEdit& edit, const TensorStore& store,
                                                  const Node& node, ValueRef value,
                                                  const FakeQuantizerPlace& place);

} // namespace qs
