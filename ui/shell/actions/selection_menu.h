// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPoint>
#include <QString>

namespace qs {

class MainWindow;
class Workspace;

/// Shows the menu of commands for the selection: nodes, a module or an edge. Returns when it is
/// closed.
void showSelectionMenu(MainWindow& window, const QPoint& at);

/// Returns the names of the selected nodes for rules, one per line; the path of a module; both ends
/// of an edge. Empty without a selection.
QString selectedName(const Workspace& workspace);

} // namespace qs
