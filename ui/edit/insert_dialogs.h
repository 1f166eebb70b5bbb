// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/edit/edit_dialog.h"

namespace qs {

// What the commands that insert an operator ask for. What they are about is of the open model.

/// Behind the node, for all its readers, one of them or none yet.
void askInsertAfter(EditDialog& dialog, GraphEditor& editor, const Graph& model, const Node& node);
/// On one of the node's inputs.
void askInsertOnInput(EditDialog& dialog, GraphEditor& editor, const Graph& model,
                      const Node& node);
/// On the edge: behind its value, for its reader unless the user says otherwise.
void askInsertOnEdge(EditDialog& dialog, GraphEditor& editor, const Graph& model, const Edge& edge);

} // namespace qs
