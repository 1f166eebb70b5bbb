// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.h"

#include <QString>

namespace qs {

class MainWindow;

/// Writes the window as PNG to `path`, and beside it `path`.json: nodes_total, nodes_drawn, layout,
/// seconds. The graph must be laid out. Errors: a file that cannot be written.
Result<void> writeScreenshot(MainWindow& window, const QString& path, double seconds);

} // namespace qs
