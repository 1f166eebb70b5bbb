// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/ranges/shared_ranges.h"

#include "engine/base/text.h"
#include "engine/convert/ranges/choose_qparams.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/graph/operators/operators.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace qs {

namespace {

using Member = SharedRange::Member;

/// Returns the float values that each observer observes, in the order of its calls within a batch.
std::map<ObserverId, std::vector<ValueRef>> valuesSeen(const PreparedModel& prepared)
{
    std::unordered_map<ValueRef, ValueRef> floatOf;
    for (const auto& [value, now] : prepared.valueOf)
        floatOf.emplace(now, value);
    std::map<ObserverId, std::vector<ValueRef>> seen;
    for (const NodePtr& node : prepared.graph->nodes()) {
        if (!node->isOp(kObserveTarget))
            continue;
        ValueRef value = *node->args.at(0).value.asRef();
        while (prepared.graph->get(value.node).isOp(kObserveTarget)) // chained observers
            value = *prepared.graph->get(value.node).args.at(0).value.asRef();
        const auto found = floatOf.find(value);
        seen[node->observer].push_back(found == floatOf.end() ? ValueRef {} : found->second);
    }
    return seen;
}

/// Returns the extremes of each value; the calls of the values alternate.
std::vector<Member> membersOf(const std::vector<ValueRef>& values, const ObserverStats& stats)
{
    std::vector<Member> members;
    const std::size_t calls = stats.batchMin.size();
    if (values.size() < 2 || calls == 0 || calls % values.size() != 0
        || stats.batchMax.size() != calls)
        return {};
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!values[i])
            return {};
        Member member {values[i], stats.batchMin[i], stats.batchMax[i]};
        for (std::size_t call = i; call < calls; call += values.size()) {
            member.min = std::min(member.min, stats.batchMin[call]);
            member.max = std::max(member.max, stats.batchMax[call]);
        }
        members.push_back(member);
    }
    return members;
}

/// True if the value consists of elements of other values that share the observer and are already
/// on its grid, so that its own range would not help.
bool isPassedOn(const Graph& model, const SharedRange& shared, ValueRef value)
{
    const Node& node = model.get(value.node);
    const OperatorFacts& facts = factsOf(node.target);
    if (!node.isOperator()
        || (!facts.clamp && !facts.traits.has(OperatorTrait::MovesValues)
            && !facts.traits.has(OperatorTrait::Permutes)
            && node.target.find("max_pool") == std::string::npos))
        return false;
    bool found = false;
    for (const NamedArgument& argument : node.args)
        forEachRef(argument.value, [&](ValueRef ref) {
            for (const Member& member : shared.members)
                found = found || member.value == ref;
        });
    return found;
}

float reach(const Member& member)
{
    return std::max(std::abs(member.min), std::abs(member.max));
}

/// Returns an operator of the plan that reads `from` and computes `to`.
NodeId between(const Graph& model, const Plan& plan, ValueRef from, ValueRef to)
{
    const NodePlan* made = plan.tryGet(model, to.node);
    std::vector<NodeId> members {to.node};
    if (made && made->group >= 0)
        members = plan.groups[std::size_t(made->group)].members;
    for (const NodeId id : members) {
        bool reads = false;
        for (const NamedArgument& argument : model.get(id).args)
            forEachRef(argument.value, [&](ValueRef ref) { reads = reads || ref == from; });
        if (reads && model.get(id).isOperator())
            return members.front();
    }
    return {};
}

/// Returns the operator that makes the widest value share with another: its producer if that reads
/// one of them, else one of its consumers.
NodeId separatorOf(const Graph& model, const Plan& plan, const SharedRange& shared)
{
    const ValueRef widest = shared.members[shared.widest].value;
    for (const bool isMaker : {true, false})
        for (const Member& member : shared.members)
            if (member.value != widest)
                if (const NodeId found = isMaker ? between(model, plan, member.value, widest)
                                                 : between(model, plan, widest, member.value))
                    return found;
    return {};
}

std::string rangeText(const Member& member)
{
    return numberText(member.min, 3) + "…" + numberText(member.max, 3);
}

/// A scale coarser than 2^20 of the value's own steps leaves no precision, for any number of bits.
std::string costText(double db)
{
    constexpr double kNothingLeftDb = 120;
    return db > kNothingLeftDb ? "all of its precision" : fixedText(db, 1) + " dB";
}

std::string describe(const Graph& model, const SharedRange& shared)
{
    const auto nameOf
        = [&](const Member& member) { return inQuotes(model.value(member.value).name); };
    const Member &worst = shared.members[shared.worst], &widest = shared.members[shared.widest];
    std::vector<std::string> others;
    for (std::size_t i = 0; i < shared.members.size(); ++i)
        if (i != shared.worst && i != shared.widest)
            others.push_back(model.value(shared.members[i].value).name);
    std::string text = nameOf(worst) + " (" + rangeText(worst) + ") loses " + costText(worst.costDb)
        + " by sharing one range with " + nameOf(widest) + " (" + rangeText(widest)
        + "), the widest of " + counted(std::int64_t(shared.members.size()), "value");
    if (!others.empty())
        text += ", with " + quotedNames(others);
    if (shared.separator)
        text += "; to separate them, keep " + inQuotes(model.get(shared.separator).name)
            + " float: \"node\": [[\"" + model.get(shared.separator).name + "\", null]]";
    return text;
}

} // namespace

std::vector<SharedRange> sharedRanges(const PreparedModel& prepared, const QParamsTable& qparams,
                                      const Observations& seen)
{
    std::vector<SharedRange> out;
    for (const auto& [id, values] : valuesSeen(prepared)) {
        const ObserverStats* stats = seen.tryGet(id);
        const auto chosen = qparams.find(id);
        if (!stats || chosen == qparams.end() || chosen->second.scale.size() != 1
            || stats->spec.kind == ObserverKind::FixedQParams || !choosesQParams(stats->spec))
            continue;
        SharedRange shared;
        shared.observer = id;
        shared.members = membersOf(values, *stats);
        for (std::size_t i = 0; i < shared.members.size(); ++i) {
            Member& member = shared.members[i];
            const QParams own = qparamsFromRange(stats->spec, {member.min}, {member.max});
            if (reach(member) > 0 && !isPassedOn(*prepared.model, shared, member.value))
                member.costDb
                    = 20 * std::log10(double(chosen->second.scale[0]) / double(own.scale.at(0)));
            if (reach(member) > reach(shared.members[shared.widest]))
                shared.widest = i;
            if (member.costDb > shared.members[shared.worst].costDb)
                shared.worst = i;
        }
        if (shared.members.empty() || shared.members[shared.worst].costDb <= kSharingCostDb)
            continue;
        shared.separator = separatorOf(*prepared.model, *prepared.plan, shared);
        shared.text = describe(*prepared.model, shared);
        out.push_back(std::move(shared));
    }
    std::stable_sort(out.begin(), out.end(), [](const SharedRange& a, const SharedRange& b) {
        return a.members[a.worst].costDb > b.members[b.worst].costDb;
    });
    return out;
}

} // namespace qs
