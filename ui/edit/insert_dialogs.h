// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/edit/edit_dialog.h"

namespace qs {

// Dialogs of the commands that insert an operator. Nodes and edges are those of the open model.

/// Asks for an operator to insert after the node, for all its readers, one of them, or none yet.
void askInsertAfter(EditDialog& dialog, GraphEditor& editor, const Graph& model, const Node& node);
/// Asks for an operator to insert on one of the node's inputs.
void askInsertOnInput(EditDialog& dialog, GraphEditor& editor, const Graph& model,
                      const Node& node);
/// Asks for an operator to insert on the edge: after its value, for its reader unless the user
/// chooses others.
void askInsertOnEdge(EditDialog& dialog, GraphEditor& editor, const Graph& model, const Edge& edge);

} // namespace qs
