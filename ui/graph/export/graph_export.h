// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.h"

#include <QSize>
#include <QString>

namespace qs {

class GraphCanvas;

/// Returns the size in pixels of a PNG of the whole graph at a scale.
QSize pictureSize(const GraphCanvas& canvas, double scale);

/// Writes the whole graph, not only its visible part, in the format of the file's suffix: .svg,
/// .pdf (one page) or .png. A PNG is painted in tiles and written row by row, so that memory does
/// not limit its size. `scale`: pixels per scene unit, for PNG only. Writes the file atomically: on
/// failure an existing file stays. GUI thread only.
Result<void> exportGraph(GraphCanvas& canvas, const QString& path, double scale = 1);

} // namespace qs
