// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/layout/level_layout.h"

namespace qs {

/// Breaks a very long level into columns side by side, as text is broken into lines. Each column
/// runs from top to bottom; edges to another column are routed through the gap beside it. Together
/// the columns have the shape of a view. A level that fits into a view with two pixels per row
/// stays one column.
void wrapIntoColumns(const LevelGraph& level, LevelPlacement& placement);

} // namespace qs
