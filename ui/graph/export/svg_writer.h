// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QIODevice;

namespace qs {

class GraphCanvas;

/// Writes the whole graph as an SVG document, thing by thing: names stay text that can be searched
/// and edited. False where the device takes no more. GUI thread only.
bool writeSvg(const GraphCanvas& canvas, QIODevice& device);

} // namespace qs
