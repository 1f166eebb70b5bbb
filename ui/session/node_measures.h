// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/fold_tree.h"

#include <optional>
#include <span>

namespace qs {

/// Bytes of a drawn node: the largest result of its nodes (for a unit: its results) and the
/// parameters, buffers and constants inside. Nothing if no size is known.
std::optional<double> memoryOf(const Graph& graph, const FoldTree& tree, const FoldEntry& entry,
                               std::span<const NodeId> nodes);

} // namespace qs
