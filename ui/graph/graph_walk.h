// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/view/graph_drawing.h"

#include <Qt>

namespace qs {

/// Returns the node that an arrow key moves to: with the drawing's flow a reader, against it the
/// producer, across it the neighbour; -1 without one. Indices into the drawing's nodes.
int nodeBeside(const GraphDrawing& drawing, Qt::Key key, int from);

} // namespace qs
