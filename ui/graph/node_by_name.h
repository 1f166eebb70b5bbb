// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "ui/session/fold_tree.h"
#endif

#include <string_view>

namespace qs {

/// Returns the drawn node for a name in a message: the node of that name or with a value of that
/// name; for a parameter or constant a reader; for a node inside a body the node around it. Invalid
/// if the form lacks the name.
NodeId drawnNodeNamed(const Graph& graph, const FoldTree& tree, std::string_view name);

} // namespace qs
