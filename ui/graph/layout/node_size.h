// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/fold_tree.h"

#include <QSizeF>

namespace qs {

/// Returns the size of an entry drawn as one node: wide enough for most names, higher if a third
/// line shows parameters or literals.
QSizeF drawnSize(const Graph& graph, const FoldTree& tree, int entry);

} // namespace qs
