// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/tune/float_choice.h"

#include "engine/graph/operators/operators.h"
#include "engine/plan/summaries/group_root.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace qs {

namespace {

constexpr std::size_t kMostItems = 1000; ///< with the greatest shares; the others hardly count

bool isQuantizedIn(const Graph& model, const Plan& plan, NodeId id)
{
    const NodePlan* decided = plan.tryGet(model, id);
    return decided && decided->quantized;
}

/// What has to be float so that the site's quantizer goes: where the value is multiplied, the
/// readers; else what makes it, unless that is a layer, which can give its result as float once
/// its readers are float.
std::vector<NodeId> operatorsOf(const BlameSite& site, const Graph& model, const Plan& plan)
{
    const bool isRead = site.kind == BlameSite::Kind::Value;
    if (isRead && site.readers != ReaderClass::Multiplies && isQuantizedIn(model, plan, site.node)
        && !isLayer(model, plan, site.node))
        return {site.node};
    std::vector<NodeId> readers;
    for (const NodeId id : site.at)
        if (isQuantizedIn(model, plan, id) && !(isRead && movesValues(model.get(id).target)))
            readers.push_back(id);
    return readers;
}

} // namespace

FloatKnapsack::FloatKnapsack(const Blame& blame, const Graph& model, const Plan& plan,
                             std::unordered_map<NodeId, std::int64_t> macs)
{
    double all = 0;
    for (const auto& [node, count] : macs)
        all += double(count);
    const auto macsOf = [&](NodeId root) {
        double sum = 0;
        const NodePlan* decided = plan.tryGet(model, root);
        if (decided && decided->group >= 0) {
            for (const NodeId member : plan.groups.at(std::size_t(decided->group)).members)
                if (const auto found = macs.find(member); found != macs.end())
                    sum += double(found->second);
        } else if (const auto found = macs.find(root); found != macs.end()) {
            sum = double(found->second);
        }
        return all > 0 ? sum / all : 0;
    };
    for (const SiteBlame& blamed : blame.sites) {
        if (m_items.size() >= kMostItems || !(blamed.expected > 0))
            break;
        Item item {blamed.expected, {}};
        for (const NodeId id : operatorsOf(blamed.site, model, plan))
            if (const NodeId root = groupRoot(model, plan, id);
                std::find(item.operators.begin(), item.operators.end(), root)
                == item.operators.end())
                item.operators.push_back(root);
        for (const NodeId id : item.operators)
            if (m_indices.try_emplace(id, m_macs.size()).second)
                m_macs.push_back(macsOf(id));
        m_items.push_back(std::move(item));
    }
}

double FloatKnapsack::costOf(const std::vector<NodeId>& operators,
                             const std::vector<bool>& taken) const
{
    double cost = 0;
    for (const NodeId id : operators)
        if (const std::size_t index = m_indices.at(id); !taken[index])
            cost += m_macs[index];
    return cost;
}

FloatChoice FloatKnapsack::freeOnes() const
{
    constexpr double kLeft = 0.02; // of the noise: what is less is not worth a cure
    double all = 0;
    for (const Item& item : m_items)
        all += item.share;
    return choose(kLeft * all, 0);
}

FloatChoice FloatKnapsack::choose(double noise, double mostFloat) const
{
    FloatChoice choice;
    std::vector<bool> taken(m_macs.size()), gone(m_items.size());
    for (const Item& item : m_items)
        choice.noise += item.share;
    const auto isGone = [&](const Item& item) {
        return !item.operators.empty()
            && std::all_of(item.operators.begin(), item.operators.end(),
                           [&](NodeId id) { return taken[m_indices.at(id)]; });
    };
    while (choice.noise > noise) {
        std::optional<std::size_t> best;
        double bestRatio = 0;
        for (std::size_t i = 0; i < m_items.size(); ++i) {
            if (gone[i] || m_items[i].operators.empty())
                continue;
            const double cost = costOf(m_items[i].operators, taken);
            if (choice.floatMacs + cost > mostFloat)
                continue;
            const double ratio
                = cost > 0 ? m_items[i].share / cost : std::numeric_limits<double>::infinity();
            if (!best || ratio > bestRatio)
                best = i;
            bestRatio = best == i ? ratio : bestRatio;
        }
        if (!best) {
            choice.isBounded = true;
            break;
        }
        const std::vector<NodeId>& operators = m_items[*best].operators;
        choice.floatMacs += costOf(operators, taken);
        std::vector<NodeId> added;
        for (const NodeId id : operators)
            if (!taken[m_indices.at(id)]) {
                taken[m_indices.at(id)] = true;
                added.push_back(id);
            }
        choice.groups.push_back(std::move(added));
        for (std::size_t i = 0; i < m_items.size(); ++i)
            if (!gone[i] && isGone(m_items[i])) {
                gone[i] = true;
                choice.noise -= m_items[i].share;
            }
    }
    return choice;
}

} // namespace qs
