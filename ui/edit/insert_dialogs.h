// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/edit/edit_dialog.h"

namespace qs {

// What the commands that insert an operator ask for. The node is one of the open model's.

/// Behind the node, for all its readers, one of them or nobody yet.
void askInsertAfter(EditDialog& dialog, GraphEditor& editor, const Graph& model, const Node& node);
/// On one of the node's inputs, of which there must be some.
void askInsertOnInput(EditDialog& dialog, GraphEditor& editor, const Graph& model,
                      const Node& node);

} // namespace qs
