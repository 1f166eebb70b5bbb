// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <vector>

namespace qs {

/// For each channel of the value, whether the reader's stored weight is zero for all of it, so that
/// losses in the channel (such as saturation) have no effect. Empty unless the reader is a linear
/// with a stored weight and reads the value directly.
std::vector<bool> unreadChannels(const Graph& model, NodeId reader, ValueRef value);

} // namespace qs
