// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/view/graph_drawing.h"

#include <QString>

#include <vector>

namespace qs {

/// The label with a value's shape beside the start of its line.
struct EdgeLabel
{
    QString text; ///< empty: no label
    QRectF rect; ///< in scene units; as wide as the text
};

/// Returns a label for each stretch of `drawing.edges`, empty for unlabelled ones. A label is
/// beside the line, on the side that the line turns away from, else on the other. If it would cover
/// a node or another label it is left out; the tool tip shows the shape.
std::vector<EdgeLabel> placeEdgeLabels(const GraphDrawing& drawing);

} // namespace qs
