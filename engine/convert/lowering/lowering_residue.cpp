// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/lowering/lowering_residue.h"

#include "engine/prepare/weighted_op.h"

#include <algorithm>
#include <unordered_set>

namespace qs {

namespace {

bool isQuantize(const Node& node)
{
    return node.kind == NodeKind::Op && node.target.find(".quantize_per_") != std::string::npos;
}

bool isDequantize(const Node& node)
{
    return node.kind == NodeKind::Op && node.target.find(".dequantize") != std::string::npos;
}

/// Why a quantized group still runs in float.
std::string unloweredReason(const ConvertedModel& model, const LoweredGraph& lowered,
                            const MatchGroup& group, NodeId last)
{
    const Graph& reference = *model.reference;
    for (NodeId member : group.members)
        if (const auto it = lowered.reasons.find(member); it != lowered.reasons.end())
            return it->second;
    const bool givesFloat = group.floatResult
        || (group.dtypeConfig
            && (!group.dtypeConfig->output.dtype || isFloating(*group.dtypeConfig->output.dtype)));
    if (givesFloat)
        return "no row of the lowering table";
    for (const Use& use : reference.users({last, 0})) {
        const Node& reader = reference.get(use.node);
        if (!isQuantize(reader))
            continue;
        const auto it = lowered.reasons.find(reader.id);
        return it == lowered.reasons.end() ? "no row of the lowering table" : it->second;
    }
    return "its output is not quantized";
}

void addUnlowered(const ConvertedModel& model, const LoweredGraph& lowered,
                  std::vector<Residue>& out)
{
    for (const MatchGroup& group : model.prepared->plan->groups) {
        if (!group.quantized)
            continue;
        NodeId last; // the last member that is still a separate operator
        for (NodeId member : group.members)
            if (model.lowered->tryGet(member))
                last = member;
        // A kernel without a fused relu leaves the relu to a separate operator.
        if (!last || (group.floatResult && !model.lowered->tryGet(group.root)))
            continue;
        out.push_back({Residue::Kind::Unlowered, group.members.back(),
                       model.lowered->get(last).name,
                       unloweredReason(model, lowered, group, last)});
    }
}

/// The operators that a rule keeps float among quantized ones.
void addNullQConfigs(const ConvertedModel& model, std::vector<Residue>& out)
{
    for (const NodePlan& plan : model.prepared->plan->nodes) {
        const Node* node = plan.node ? model.lowered->tryGet(plan.node) : nullptr;
        if (!node || plan.verdict != Verdict::FloatByRule || !plan.eligible)
            continue;
        bool dequantized = false;
        for (const NamedArgument& argument : node->args)
            forEachRef(argument.value, [&](ValueRef ref) {
                const Node& producer = model.lowered->get(ref.node);
                dequantized
                    = dequantized || (isDequantize(producer) && producer.origin != node->id);
            });
        if (dequantized)
            out.push_back({Residue::Kind::Unlowered, node->id, node->name,
                           "kept float by a rule; it reads dequantized values"});
    }
}

/// The members of the groups that the plan quantizes.
std::unordered_set<NodeId> quantizedMembers(const ConvertedModel& model)
{
    std::unordered_set<NodeId> members;
    for (const MatchGroup& group : model.prepared->plan->groups)
        if (group.quantized)
            members.insert(group.members.begin(), group.members.end());
    return members;
}

/// Adds quantize nodes whose readers all dequantize again for float operators, which only lose
/// precision.
void addDeadPairs(const ConvertedModel& model, std::vector<Residue>& out)
{
    const Graph& graph = *model.lowered;
    const auto quantized = quantizedMembers(model);
    // A pair may also be the input of a quantized operator without a kernel.
    const auto feedsReferenceForm = [&](NodeId dequantize) {
        const auto users = graph.users({dequantize, 0});
        return std::any_of(users.begin(), users.end(),
                           [&](const Use& use) { return quantized.contains(use.node); });
    };
    for (const NodePtr& node : graph.nodes()) {
        if (!isQuantize(*node))
            continue;
        const ValueRef input = argumentRef(*node, "self");
        const bool stored = input && graph.get(input.node).kind != NodeKind::Op
            && graph.get(input.node).kind != NodeKind::Input;
        const auto users = graph.users({node->id, 0});
        const bool dead = std::all_of(users.begin(), users.end(), [&](const Use& use) {
            return isDequantize(graph.get(use.node)) && !feedsReferenceForm(use.node);
        });
        if (!stored && dead)
            out.push_back({Residue::Kind::DeadPair, node->origin ? node->origin : node->id,
                           node->name, "quantized only to be dequantized for float readers"});
    }
}

} // namespace

std::vector<Residue> findResidue(const ConvertedModel& model, const LoweredGraph& lowered)
{
    std::vector<Residue> out;
    addUnlowered(model, lowered, out);
    addNullQConfigs(model, out);
    addDeadPairs(model, out);
    return out;
}

std::vector<Residue> loweringResidue(const ConvertedModel& model)
{
    return model.residue;
}

} // namespace qs
