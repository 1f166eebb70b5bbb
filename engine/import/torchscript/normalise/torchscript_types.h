// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/import/torchscript/normalise/torchscript_ranks.h"

namespace qs {

/// A TorchScript file says of most values that they are tensors and no more. These fill in what
/// follows from the operator and its operands; what does not follow stays unknown.

using TypeOf = std::function<const ValueType&(ValueRef)>;

/// Element types of the node's tensor outputs.
void inferTypes(Node& node, const TypeOf& typeOf, const RankOf& rankOf);

} // namespace qs
