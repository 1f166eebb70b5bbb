// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plan/rules/edge_rules.h"
#include "ui/session/fold_tree.h"

#include <optional>
#include <unordered_set>
#include <vector>

namespace qs {

/// Returns the only value of an entry that other nodes read; without readers its last value.
/// Nothing if several values are read.
std::optional<ValueRef> valueOfEntry(const Graph& graph, const FoldTree& tree, int entry);
/// Returns the edges from outside into an entry, without those of parameters.
std::vector<Edge> readingsOf(const Graph& graph, const FoldTree& tree, int entry);

/// Returns the node and all nodes that depend on it.
std::unordered_set<NodeId> behind(const Graph& graph, NodeId node);

/// Returns false if `reading` cannot read `other` instead: the same value, one of a node in
/// `behindReader` (the nodes that depend on the reader), or one of another kind or dtype class.
/// Shapes are only checked by trying the edit.
bool mayRead(const Graph& graph, const Edge& reading, ValueRef other,
             const std::unordered_set<NodeId>& behindReader);

} // namespace qs
