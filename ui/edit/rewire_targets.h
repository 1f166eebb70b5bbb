// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plan/rules/edge_rules.h"
#include "ui/session/fold_tree.h"

#include <optional>
#include <unordered_set>
#include <vector>

namespace qs {

/// The only value of an entry that the rest of the graph reads; nothing if there are several or
/// none.
std::optional<ValueRef> valueOfEntry(const Graph& graph, const FoldTree& tree, int entry);
/// The values that what is drawn for an entry reads from elsewhere, parameters left out.
std::vector<Edge> readingsOf(const Graph& graph, const FoldTree& tree, int entry);

/// The node and all that is computed from it.
std::unordered_set<NodeId> behind(const Graph& graph, NodeId node);

/// Whether the reading may go to another value, as far as that shows without a trial:
/// `behindReader` is what follows from its reader. Not to what depends on it, nor to another kind
/// of value or of numbers; shapes are for the edit itself to try.
bool mayRead(const Graph& graph, const Edge& reading, ValueRef other,
             const std::unordered_set<NodeId>& behindReader);

} // namespace qs
