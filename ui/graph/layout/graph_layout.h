// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/job_context.h"
#include "ui/graph/layout/level_layout.h"
#include "ui/graph/view/graph_drawing.h"

#include <set>

namespace qs {

/// Lays out each expanded module alone, innermost first, and then its parent with the module as one
/// large node. A value with many readers gets a line to the first reader only; the others show its
/// name. Fails if cancelled, between modules. Thread: any.
Result<GraphDrawingPtr> layoutGraph(const GraphPtr& graph, const FoldTreePtr& tree,
                                    const std::set<int>& expanded, const JobContext& job = {},
                                    LayoutQuality quality = LayoutQuality::Fine,
                                    Flow flow = Flow::Down);

} // namespace qs
