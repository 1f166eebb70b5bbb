// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.h"

#include <QSize>
#include <QString>

namespace qs {

class GraphCanvas;

/// The pixels of a PNG of the whole graph at a scale.
QSize pictureSize(const GraphCanvas& canvas, double scale);

/// Writes the whole graph, not only what is seen, as the file's suffix says: .svg, .pdf (one page)
/// or .png. A PNG is painted in tiles and written row by row, so that memory does not limit its
/// size; `scale` is its pixels a unit and ignored for the others. The file appears whole or not at
/// all. GUI thread only.
Result<void> exportGraph(GraphCanvas& canvas, const QString& path, double scale = 1);

} // namespace qs
