// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace qs {

class Document;
class GraphPane;
class MessageBar;
class Workspace;

/// Asks for a file and writes the error of every node as node data.
void saveNodeData(const Document& document, MessageBar& messages);
/// Asks for a file of node data and shows it.
void importNodeData(Workspace& workspace, GraphPane& graph, MessageBar& messages);
/// Reads a file of node data off the GUI thread and colours the graph by it. Reports errors of the
/// file, or entries without a node, in one line. No effect if `graph` is deleted meanwhile.
void importNodeData(Workspace& workspace, GraphPane& graph, MessageBar& messages,
                    const QString& path);

} // namespace qs
