// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/view/graph_drawing.h"

#include <QString>

#include <vector>

namespace qs {

/// A value's shape beside the start of its line.
struct EdgeLabel
{
    QString text; ///< empty: no label
    QRectF rect; ///< in scene units; the text is as wide as it
};

/// A label for each stretch of `drawing.edges` that carries one and has room for it: beside the
/// line, on the side that the line turns away from, else on the other. A label that would lie on a
/// node or on another label is left out: the tool tip has the shape.
std::vector<EdgeLabel> placeEdgeLabels(const GraphDrawing& drawing);

} // namespace qs
