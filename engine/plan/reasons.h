// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/alternatives.h"
#include "engine/plan/block/prepare_settings.h"
#include "engine/plan/decide.h"

#include <map>
#include <unordered_set>

namespace qs {

/// All results of planning on a graph. Borrowed.
struct Findings
{
    const Graph& graph;
    const OpNames& names;
    const Matches& matches;
    const std::vector<RuleHits>& hits; ///< by unit
    const std::vector<Verdicts>& verdicts; ///< by match
    const ObserverPlan& observers;
    const Backend& backend;
    const ModuleChoices& choices;
};

/// Converts the findings to one NodePlan per node, with its reason, and to the plan's warnings.
class Reasoner : private Findings
{
public:
    explicit Reasoner(const Findings& findings);

    /// The plan of the node at that position of the graph.
    NodePlan nodePlan(std::size_t position) const;
    /// Adds warnings: rules that matched nothing, dropped qconfigs, inputs that are not observed.
    void warn(const RuleTable& rules, std::vector<std::string>& warnings) const;

private:
    void explainMatched(NodePlan& plan, std::size_t match) const;
    void explainInside(NodePlan& plan, const Node& node, const OpName& name) const;
    /// Whether operators of this name are quantized as a whole.
    bool isWhole(const std::string& name) const;
    void explainUnmatched(NodePlan& plan, const Node& node, const OpName& name) const;
    /// Adds fusions that only a second reader prevents as candidates.
    void addBlocked(NodePlan& plan) const;
    bool isForOthers(std::size_t match) const;
    void warnOfParametrized(std::vector<std::string>& warnings) const;

    mutable Alternatives m_alternatives;
    std::unordered_set<std::string> m_single; ///< patterns of one operator
    std::map<std::string, std::string> m_takenApart; ///< layers by path: their classes
    std::unordered_map<NodeId, std::vector<std::size_t>> m_blockedAt; ///< into Matches::blocked
};

} // namespace qs
