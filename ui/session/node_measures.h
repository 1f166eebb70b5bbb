// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/fold_tree.h"

#include <optional>
#include <span>

namespace qs {

/// Returns the bytes of a drawn node: its largest result (for a unit: all its results) plus the
/// parameters, buffers and constants inside. Nothing if no size is known.
std::optional<double> memoryOf(const Graph& graph, const FoldTree& tree, const FoldEntry& entry,
                               std::span<const NodeId> nodes);

} // namespace qs
