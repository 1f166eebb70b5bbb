// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <vector>

namespace qs {

/// Returns, for each channel of the value, true if the reader's stored weight is zero for the
/// channel, so that errors in it (such as saturation) have no effect. Empty unless the reader is a
/// linear with a stored weight that reads the value directly.
std::vector<bool> unreadChannels(const Graph& model, NodeId reader, ValueRef value);

} // namespace qs
