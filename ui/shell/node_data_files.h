// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace qs {

class MainWindow;

/// Asks for a file and writes what every node loses as node data.
void saveNodeData(MainWindow& window);
/// Asks for a file of node data and shows it.
void importNodeData(MainWindow& window);
/// Reads a file of node data off the GUI thread and colours the graph by it; says in one line what
/// is wrong with the file, or what in it fits no node.
void importNodeData(MainWindow& window, const QString& path);

} // namespace qs
