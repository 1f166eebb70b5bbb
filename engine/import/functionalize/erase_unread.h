// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph_edit.h"

namespace qs {

/// Removes operators whose values have no consumers, except those that write to their arguments or
/// may raise: a layer that only a training head would use, sizes that only assertions read.
/// Parameters stay.
void eraseUnread(GraphEdit& edit);

} // namespace qs
