// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/fold_tree.h"

#include <QSizeF>

namespace qs {

/// The size of an entry drawn as one node: wide enough for most names, higher where parameters or
/// literals stand in a third line.
QSizeF drawnSize(const Graph& graph, const FoldTree& tree, int entry);

} // namespace qs
