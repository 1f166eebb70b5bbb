// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph_edit.h"

namespace qs {

/// Removes operators whose values have no consumers, except those that write to their arguments or
/// may raise. Examples: layers used only by a training head, sizes read only by assertions. Keeps
/// parameters.
void eraseUnread(GraphEdit& edit);

} // namespace qs
