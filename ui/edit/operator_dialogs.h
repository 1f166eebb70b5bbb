// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/edit/edit_dialog.h"

namespace qs {

// Dialogs of the commands that change one operator. Nodes are those of `model`, the open one.

/// Asks for the operator that replaces the node, or with `every` all of its kind.
void askReplacement(EditDialog& dialog, GraphEditor& editor, const Node& node, bool every);
/// Asks for other literal arguments.
void askArguments(EditDialog& dialog, GraphEditor& editor, const Graph& model, const Node& node);
/// Asks for another value for one of the node's inputs. `edge`: the proposed input; null: the
/// first.
void askOtherInput(EditDialog& dialog, GraphEditor& editor, const GraphPtr& model, const Node& node,
                   const Edge* edge);
/// Asks for the reader that gets a copy of the node. `edge`: the proposed reader; null: the first.
void askDuplicate(EditDialog& dialog, GraphEditor& editor, const Node& node, const Edge* edge);
/// Asks for another name of the node.
void askNewName(EditDialog& dialog, GraphEditor& editor, const Node& node);

/// Asks which of the model's outputs to remove.
void askOutputToDrop(EditDialog& dialog, const Graph& model);
/// Asks for a .npy file that replaces a stored tensor of the model. Lists tensors read by the
/// operators first.
void askConstant(EditDialog& dialog, GraphEditor& editor, const Graph& model,
                 const std::vector<NodeId>& operators);

} // namespace qs
