// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/backend_config.h"
#include "engine/graph/match/pattern_match.h"
#include "engine/plan/names/op_vocabulary.h"

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace qs {

/// The unit of quantization: a node, or the nodes of a fusion (conv, batch norm,
/// relu).
struct Unit
{
    std::vector<NodeId> nodes; ///< forward order
    std::vector<std::string> names; ///< one per node
    std::string name; ///< name for patterns: the node's, or the fused module
    int fusionEntry = -1; ///< index into Backend::patterns; -1 = not fused
    std::vector<Use>
        extraInputs; ///< further inputs of the inner operators: the summand of a conv-add
    NodeId root() const { return nodes.front(); }
    NodeId last() const { return nodes.back(); }
};

/// A match of a pattern, over one or more units in forward order.
struct Match
{
    std::vector<std::size_t> units;
    int entry = -1; ///< index into Backend::patterns
};

/// A fusion whose operators match the pattern, but that is not possible.
struct BlockedFusion
{
    NodeId last; ///< where the pattern would end
    NodeId inner; ///< the obstacle: the node whose value has several readers, or the layer
    int entry = -1;
    std::string why; ///< "blocked: 2 users of 'relu', a fusion needs one"
};

/// The matched graph. All vectors are in graph order.
struct Matches
{
    std::vector<Unit> units;
    std::vector<Match> matches; ///< ordered by their last node
    std::unordered_map<NodeId, std::size_t> unitOf; ///< ops only
    std::unordered_map<NodeId, int> matchOf; ///< index into `matches`; ops without one are absent
    std::vector<BlockedFusion> blocked;
};

/// Names of every node, by position in `graph.nodes()`.
using OpNames = std::vector<OpName>;

/// First fuses, independent of qconfigs, then matches for quantization, from the last operator
/// backwards. The longest pattern wins; inner operators must have exactly one reader (torch.ao
/// `fuse_fx`, `_find_matches`). A node of `unfused` is never fused with its producer.
Matches matchPatterns(const Graph& graph, const OpNames& names, const Backend& backend,
                      const std::set<NodeId>& unfused = {});

/// The activations that the node reads, in order, with the arguments. A parameter counts only if it
/// is an ordinary argument, not a parameter of the node's module.
std::vector<Inflow> activationUses(const Graph& graph, const Node& node, const OpName& name);
/// The values of `activationUses`.
std::vector<ValueRef> activationInputs(const Graph& graph, const Node& node, const OpName& name);

} // namespace qs
