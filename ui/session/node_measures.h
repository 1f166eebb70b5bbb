// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/fold_tree.h"

#include <optional>
#include <span>

namespace qs {

/// Bytes that a drawn node needs: the largest value that one of its nodes makes (a unit: what comes
/// out of it) and the parameters, buffers and constants inside. Nothing where no size is known.
std::optional<double> memoryOf(const Graph& graph, const FoldTree& tree, const FoldEntry& entry,
                               std::span<const NodeId> nodes);

} // namespace qs
