// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/decide.h"

namespace qs {

/// Turns everything that was found out into one NodePlan a node, each with its sentence, and the
/// plan's warnings. Borrows all it is given.
struct Reasoner
{
    const Graph& graph;
    const OpNames& names;
    const Matches& matches;
    const std::vector<RuleHits>& hits; ///< by unit
    const std::vector<Verdicts>& verdicts; ///< by match
    const ObserverPlan& observers;
    const Backend& backend;
    const PrepareSettings& settings;

    /// The plan of the node at that position of the graph.
    NodePlan nodePlan(std::size_t position) const;
    /// Rules that matched nothing, dropped qconfigs, inputs that nothing observes.
    void warn(const RuleTable& rules, std::vector<std::string>& warnings) const;

private:
    void explainMatched(NodePlan& plan, std::size_t match) const;
    void explainUnmatched(NodePlan& plan, const Node& node, const OpName& name) const;
    std::vector<std::string> surroundings(NodeId id) const;
    std::string blockedText(NodeId id) const;
};

} // namespace qs
