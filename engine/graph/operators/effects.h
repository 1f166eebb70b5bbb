// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/node.h"

#include <string_view>

namespace qs {

/// Fails with the model's message, `message`: import turns an exception in a branch into this
/// operator.
inline constexpr std::string_view kRaiseTarget = "prim.RaiseException.default";

/// True for a node that must stay even without consumers: it, or a graph that it runs, updates
/// state or raises.
bool hasEffect(const Node& node);

/// True if the operator's arguments select training mode: dropout, norms, recurrent layers.
bool isInTraining(const Node& node);

} // namespace qs
