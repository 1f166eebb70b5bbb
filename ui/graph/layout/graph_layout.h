// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/job_context.h"
#include "ui/graph/layout/level_layout.h"
#include "ui/graph/view/graph_drawing.h"

#include <set>

namespace qs {

/// Lays out each expanded module alone, innermost first, and then its parent with the module as one
/// large node. Runs on a pool thread; stops between modules on a cancel. A value with many readers
/// is drawn as a line to the first of them only and shown by name at the others.
Result<GraphDrawingPtr> layoutGraph(const GraphPtr& graph, const FoldTreePtr& tree,
                                    const std::set<int>& expanded, const JobContext& job = {},
                                    LayoutQuality quality = LayoutQuality::Fine,
                                    Flow flow = Flow::Down);

} // namespace qs
