// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/node.h"

#include <string_view>

namespace qs {

/// Fails with the model's own message, `message`: what is left of an exception in a branch.
inline constexpr std::string_view kRaiseTarget = "prim.RaiseException.default";

/// True for a node that matters though nobody reads its outputs: it updates state, or raises, or a
/// graph that it runs does.
bool hasEffect(const Node& node);

/// True for an operator that its arguments keep in training mode: dropout, norms, recurrent layers.
bool isInTraining(const Node& node);

} // namespace qs
