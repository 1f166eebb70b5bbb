// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.h"

#include <QPixmap>
#include <QString>

class QWidget;

namespace qs {

class Document;
class GraphPane;

/// Writes a picture as PNG, atomically; writes into a device or pipe without replacing it. Errors
/// (Io) name the path.
Result<void> writePicture(const QPixmap& picture, const QString& path);

/// Writes the window as PNG to `path`, and beside it `path`.json: nodes_total, nodes_drawn, layout,
/// seconds; where the model was compared also compared_on, compared_samples, output_db and
/// result_seconds, when the comparison was first shown. The graph must be laid out. Errors: a file
/// that cannot be written.
Result<void> writeScreenshot(QWidget& window, const Document& document, GraphPane& graph,
                             const QString& path, double seconds, double resultSeconds = 0);

} // namespace qs
