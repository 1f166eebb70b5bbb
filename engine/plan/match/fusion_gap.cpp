// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/match/fusion_gap.h"

#include "engine/plan/match/pattern_matcher.h"

#include <unordered_map>

namespace qs {

namespace {

// What often follows a convolution or linear in one kernel.
bool followsInFusions(const std::string& name)
{
    return name.find("BatchNorm") != std::string::npos || name.ends_with("ReLU")
        || name.ends_with(".relu");
}

bool startsFusions(const std::string& name)
{
    return name.find("Conv") != std::string::npos || name.ends_with(".Linear")
        || name.find("BatchNorm") != std::string::npos;
}

} // namespace

std::vector<std::string> fusableChain(const Graph& graph, NodeId id, const NameOfNode& nameOf)
{
    // Back to the operator a fusion would start with, then forward along single readers.
    NodeId start = id;
    for (int step = 0; step < 2; ++step) {
        const auto inputs = activationInputs(graph, graph.get(start), nameOf(start));
        if (inputs.size() != 1 || !followsInFusions(nameOf(start).name)
            || graph.get(inputs[0].node).kind != NodeKind::Op)
            break;
        const std::string& before = nameOf(inputs[0].node).name;
        if (!startsFusions(before) && !followsInFusions(before))
            break;
        start = inputs[0].node;
    }
    std::vector<std::string> chain {nameOf(start).name};
    if (!startsFusions(chain[0]))
        return {nameOf(id).name};
    bool reached = start == id;
    for (NodeId at = start; chain.size() < 3;) {
        const auto users = graph.users({at, 0});
        if (users.size() != 1 || !followsInFusions(nameOf(users[0].node).name))
            break;
        at = users[0].node;
        reached = reached || at == id;
        chain.push_back(nameOf(at).name);
    }
    // Several readers on the way: no fusion holds both ends.
    return reached ? chain : std::vector<std::string> {nameOf(id).name};
}

std::vector<std::string> fusionGap(const Graph& graph, const Plan& plan, NodeId node)
{
    const NodePlan* decided = plan.tryGet(graph, node);
    // Where a second reader stands in the way, a pattern would change nothing.
    if (!decided
        || (decided->reason.code() != ReasonCode::NoBackendPattern
            && decided->reason.code() != ReasonCode::FusionWithoutEntry)
        || !decided->candidates.empty())
        return {};
    std::unordered_map<NodeId, OpName> known;
    const NameOfNode nameOf = [&](NodeId id) -> const OpName& {
        const auto [found, isNew] = known.try_emplace(id);
        if (isNew)
            found->second = opNameOf(graph.get(id));
        return found->second;
    };
    std::vector<std::string> chain
        = decided->pattern.empty() ? fusableChain(graph, node, nameOf) : decided->pattern;
    return chain.size() > 1 ? chain : std::vector<std::string>();
}

} // namespace qs
