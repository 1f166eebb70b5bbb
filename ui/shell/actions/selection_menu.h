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

/// The names of the selected nodes, one a line, as rules name them; the path of a module; of an
/// edge both ends. Empty where nothing is selected.
QString selectedName(const Workspace& workspace);

} // namespace qs
