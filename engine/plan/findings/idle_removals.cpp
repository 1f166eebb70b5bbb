// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/findings/idle_removals.h"

#include "engine/base/text.h"
#include "engine/configure/backend/lowering_names.h"

#include <algorithm>

namespace qs {

namespace {

using Words = std::vector<std::string>;

/// The operators that one kernel of the model computes: their names in rules, and their kinds.
struct KernelChain
{
    Words names, kinds;
};

/// The chain of each quantized group, without batch norms, which are folded.
std::vector<KernelChain> quantizedChains(const Graph& graph, const OpNames& names, const Plan& plan)
{
    std::vector<KernelChain> chains;
    for (const MatchGroup& group : plan.groups) {
        if (!group.quantized || group.customModule)
            continue;
        KernelChain chain;
        for (const NodeId member : group.members) {
            const std::string& name = names[graph.position(member)].name;
            if (name.find("BatchNorm") == std::string::npos || group.members.size() == 1)
                chain.names.push_back(name);
        }
        chain.kinds = operatorKindsOf(chain.names);
        chains.push_back(std::move(chain));
    }
    return chains;
}

std::string rowText(const Words& pattern)
{
    std::string text;
    for (const std::string& name : pattern)
        text += (text.empty() ? "" : ", ") + name;
    return "[" + text + "]";
}

bool beginsWith(const Words& whole, const Words& part)
{
    return whole.size() > part.size() && std::equal(part.begin(), part.end(), whole.begin());
}

} // namespace

void warnOfIdleRemovals(const Graph& graph, const OpNames& names, const Recipe& recipe, Plan& plan)
{
    if (recipe.loweringRemove.empty())
        return;
    const std::vector<KernelChain> chains = quantizedChains(graph, names, plan);
    const auto isRemoved = [&recipe](const Words& kinds) {
        return std::any_of(
            recipe.loweringRemove.begin(), recipe.loweringRemove.end(),
            [&](const LoweringRow& row) { return operatorKindsOf(row.pattern) == kinds; });
    };
    for (const LoweringRow& row : recipe.loweringRemove) {
        const Words kinds = operatorKindsOf(row.pattern);
        std::size_t longer = 0;
        bool isUsed = false;
        const KernelChain* first = nullptr;
        for (const KernelChain& chain : chains) {
            // Without a row for the whole chain its parts are lowered one by one.
            isUsed = isUsed || chain.kinds == kinds
                || (beginsWith(chain.kinds, kinds) && isRemoved(chain.kinds));
            if (!beginsWith(chain.kinds, kinds))
                continue;
            ++longer;
            if (!first)
                first = &chain;
        }
        if (!isUsed && first)
            plan.warnings.push_back(
                "convert.lowering.remove: the row " + rowText(row.pattern)
                + " changes nothing: no quantized operator of this model uses it; "
                + counted(std::int64_t(longer), "operator") + (longer == 1 ? " is" : " are")
                + " fused as " + rowText(first->names) + ": remove that row instead");
    }
}

} // namespace qs
