// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/edit/edit_dialog.h"

namespace qs {

// What the commands that change one operator ask for. The node is one of `model`, the open one.

/// Another operator in its place, or in the place of all of its kind.
void askReplacement(EditDialog& dialog, GraphEditor& editor, const Node& node, bool every);
/// Other literal arguments.
void askArguments(EditDialog& dialog, GraphEditor& editor, const Graph& model, const Node& node);
/// Another value for one of its inputs. `edge`: the reading that is proposed; null: the first.
void askOtherInput(EditDialog& dialog, GraphEditor& editor, const GraphPtr& model, const Node& node,
                   const Edge* edge);
/// One of its readers for a second copy. `edge`: the reading that is proposed; null: the first.
void askDuplicate(EditDialog& dialog, GraphEditor& editor, const Node& node, const Edge* edge);
/// Another name.
void askNewName(EditDialog& dialog, GraphEditor& editor, const Node& node);

/// Which of its outputs goes.
void askOutputToDrop(EditDialog& dialog, const Graph& model);
/// A .npy for a stored tensor of the model, those that the operators read first.
void askConstant(EditDialog& dialog, GraphEditor& editor, const Graph& model,
                 const std::vector<NodeId>& operators);

} // namespace qs
