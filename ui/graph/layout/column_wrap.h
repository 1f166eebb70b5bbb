// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/layout/level_layout.h"

namespace qs {

/// Breaks a level that is far longer than broad into columns beside each other, as text is broken
/// into lines: each runs from top to bottom, and what goes on in another column is drawn through
/// the gap beside it. Together they have the shape of a view. A level that can be fitted with two
/// pixels a row stays one column.
void wrapIntoColumns(const LevelGraph& level, LevelPlacement& placement);

} // namespace qs
