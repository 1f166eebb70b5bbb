// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <vector>

namespace qs {

/// By channel of the value, whether the reader's stored weight has zeros alone for it: what is
/// lost there, as by a saturating range, is not seen. Empty where the reader is not a linear with
/// such a weight whose input is the value itself.
std::vector<bool> unreadChannels(const Graph& model, NodeId reader, ValueRef value);

} // namespace qs
