// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/tune/float_choice.h"

#include "engine/graph/operators/operators.h"
#include "engine/pipeline/tune/tune_measure.h"
#include "engine/plan/module_statistics.h"
#include "engine/plan/summaries/group_root.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

namespace qs {

namespace {

constexpr std::size_t kMostItems = 1000; ///< those with the greatest shares; others are negligible

/// Adds the reader if it is quantized; of one that only moves values, also those that read its
/// results.
void addReaders(NodeId id, const Graph& model, const Plan& plan, std::vector<NodeId>& found)
{
    if (isQuantizedIn(model, plan, id))
        found.push_back(id);
    const Node& reader = model.get(id);
    for (std::uint32_t i = 0; movesValues(reader.target) && i < reader.outputs.size(); ++i)
        for (const Use& use : model.users({id, i}))
            addReaders(use.node, model, plan, found);
}

/// Operators that must be float to remove the site's quantizer. If the value is multiplied: its
/// readers, with those that move it to them, and a producer that costs no multiplication. Else: its
/// producer. A layer can return a float result once its readers are float.
std::vector<NodeId> operatorsOf(const BlameSite& site, const Graph& model, const Plan& plan,
                                const std::unordered_map<NodeId, std::int64_t>& macs)
{
    std::vector<NodeId> found;
    if (site.kind != BlameSite::Kind::Value) {
        for (const NodeId id : site.at)
            if (isQuantizedIn(model, plan, id))
                found.push_back(id);
        return found;
    }
    const bool isMade = isQuantizedIn(model, plan, site.node) && !isLayer(model, plan, site.node);
    if (isMade && site.readers != ReaderClass::Multiplies)
        return {site.node};
    for (const NodeId id : site.at)
        addReaders(id, model, plan, found);
    if (isMade && (found.empty() || !macs.contains(site.node)))
        found.push_back(site.node);
    return found;
}

} // namespace

FloatKnapsack::FloatKnapsack(const Blame& blame, const Graph& model, const Plan& plan,
                             const std::unordered_map<NodeId, std::int64_t>& macs,
                             const std::unordered_map<NodeId, double>& costs)
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
        for (const NodeId id : operatorsOf(blamed.site, model, plan, macs))
            if (const NodeId root = groupRoot(model, plan, id);
                std::find(item.operators.begin(), item.operators.end(), root)
                == item.operators.end())
                item.operators.push_back(root);
        for (const NodeId id : item.operators)
            if (m_indices.try_emplace(id, m_macs.size()).second) {
                m_macs.push_back(macsOf(id));
                const auto cost = costs.find(id);
                m_costs.push_back(cost != costs.end() ? cost->second : 0);
            }
        m_items.push_back(std::move(item));
    }
    if (costs.empty())
        m_costs = m_macs;
}

double FloatKnapsack::sumOf(const std::vector<double>& of, const std::vector<NodeId>& operators,
                            const std::vector<bool>& taken) const
{
    double sum = 0;
    for (const NodeId id : operators)
        if (const std::size_t index = m_indices.at(id); taken.empty() || !taken[index])
            sum += of[index];
    return sum;
}

FloatChoice FloatKnapsack::freeOnes() const
{
    constexpr double kLeft = 0.02; // share of the noise that may remain
    double all = 0;
    for (const Item& item : m_items)
        all += item.share;
    return choose(kLeft * all, 0);
}

bool FloatKnapsack::isGone(const Item& item, const std::vector<bool>& taken) const
{
    return !item.operators.empty()
        && std::all_of(item.operators.begin(), item.operators.end(),
                       [&](NodeId id) { return taken[m_indices.at(id)]; });
}

double FloatKnapsack::noiseWith(const std::vector<bool>& taken) const
{
    double noise = 0;
    for (const Item& item : m_items)
        noise += isGone(item, taken) ? 0 : item.share;
    return noise;
}

double FloatKnapsack::sumOf(const std::vector<double>& of, const std::vector<bool>& taken)
{
    double sum = 0;
    for (std::size_t i = 0; i < taken.size(); ++i)
        sum += taken[i] ? of[i] : 0;
    return sum;
}

void FloatKnapsack::fill(std::vector<bool>& taken, double noise, double mostFloat,
                         const Item* without) const
{
    const auto isLeftOut = [&](const Item& item) {
        return without && std::any_of(item.operators.begin(), item.operators.end(), [&](NodeId id) {
                   return std::find(without->operators.begin(), without->operators.end(), id)
                       != without->operators.end();
               });
    };
    double left = noiseWith(taken), macs = macsOf(taken);
    while (left > noise) {
        const Item* best = nullptr;
        double bestRatio = 0;
        for (const Item& item : m_items) {
            if (item.operators.empty() || isGone(item, taken) || isLeftOut(item))
                continue;
            if (macs + sumOf(m_macs, item.operators, taken) > mostFloat)
                continue;
            const double cost = sumOf(m_costs, item.operators, taken);
            const double ratio
                = cost > 0 ? item.share / cost : std::numeric_limits<double>::infinity();
            if (!best || ratio > bestRatio) {
                best = &item;
                bestRatio = ratio;
            }
        }
        if (!best)
            return;
        macs += sumOf(m_macs, best->operators, taken);
        for (const NodeId id : best->operators)
            taken[m_indices.at(id)] = true;
        left = noiseWith(taken);
    }
}

void FloatKnapsack::exchange(std::vector<bool>& taken, double noise, double mostFloat) const
{
    constexpr int kMostRounds = 8;
    constexpr double kLess = 1 - 1e-9; // tolerates rounding
    for (int round = 0; round < kMostRounds; ++round) {
        bool isBetter = false;
        for (const Item& item : m_items) {
            if (!isGone(item, taken) || !(sumOf(m_costs, item.operators, {}) > 0))
                continue;
            std::vector<bool> other = taken;
            for (const NodeId id : item.operators)
                other[m_indices.at(id)] = false;
            fill(other, noise, mostFloat, &item);
            const double before = noiseWith(taken), after = noiseWith(other);
            const bool holds
                = after <= noise && sumOf(m_costs, other) < kLess * sumOf(m_costs, taken);
            if (holds || (before > noise && after < kLess * before)) {
                taken = std::move(other);
                isBetter = true;
            }
        }
        if (!isBetter)
            return;
    }
}

std::vector<bool> FloatKnapsack::taken(double noise, double mostFloat) const
{
    std::vector<bool> taken(m_macs.size());
    fill(taken, noise, mostFloat);
    exchange(taken, noise, mostFloat);
    return taken;
}

std::vector<FloatGroup> FloatKnapsack::barredBy(double noise, double mostFloat) const
{
    const std::vector<bool> wanted = taken(noise, 1), held = taken(noise, mostFloat);
    std::vector<std::set<NodeId>> sets;
    for (const Item& item : m_items)
        if (isGone(item, wanted) && !isGone(item, held) && sumOf(m_macs, item.operators, {}) > 0)
            sets.emplace_back(item.operators.begin(), item.operators.end());
    std::stable_sort(sets.begin(), sets.end(),
                     [](const auto& a, const auto& b) { return a.size() > b.size(); });
    std::vector<FloatGroup> groups;
    for (std::size_t i = 0; i < sets.size(); ++i) {
        const std::set<NodeId>& set = sets[i];
        if (std::any_of(sets.begin(), sets.begin() + std::ptrdiff_t(i), [&set](const auto& other) {
                return std::includes(other.begin(), other.end(), set.begin(), set.end());
            }))
            continue;
        FloatGroup group {{set.begin(), set.end()}, 0, 0};
        std::vector<bool> alone(m_macs.size());
        for (const NodeId id : group.operators)
            alone[m_indices.at(id)] = true;
        group.share = this->noise() - noiseWith(alone);
        group.macs = macsOf(alone);
        groups.push_back(std::move(group));
    }
    std::stable_sort(groups.begin(), groups.end(), [](const FloatGroup& a, const FloatGroup& b) {
        return a.share * b.macs > b.share * a.macs;
    });
    return groups;
}

FloatChoice FloatKnapsack::choose(double noise, double mostFloat) const
{
    FloatChoice choice;
    const std::vector<bool> taken = this->taken(noise, mostFloat);
    choice.noise = noiseWith(taken);
    choice.floatMacs = macsOf(taken);
    choice.isBounded = choice.noise > noise;
    std::vector<const Item*> gone;
    for (const Item& item : m_items)
        if (isGone(item, taken))
            gone.push_back(&item);
    // those that cost nothing first
    std::stable_partition(gone.begin(), gone.end(), [this](const Item* item) {
        return !(sumOf(m_costs, item->operators, {}) > 0);
    });
    std::vector<bool> grouped(taken.size());
    for (const Item* item : gone) {
        std::vector<NodeId> group;
        for (const NodeId id : item->operators)
            if (const std::size_t index = m_indices.at(id); !grouped[index]) {
                grouped[index] = true;
                group.push_back(id);
            }
        if (!group.empty())
            choice.groups.push_back(std::move(group));
    }
    return choice;
}

std::vector<PredictedPoint> FloatKnapsack::front(double int8Macs) const
{
    std::vector<PredictedPoint> points;
    std::vector<bool> taken(m_macs.size());
    double left = noiseWith(taken), before = 0;
    do {
        points.push_back({int8Macs - macsOf(taken), shareDb(left)});
        before = left;
        fill(taken, std::nextafter(left, 0.0), 1); // the next group
        left = noiseWith(taken);
    } while (left < before && points.back().db < kMostFrontDb);
    return points;
}

std::vector<PredictedPoint> predictedFront(const Blame& blame, const Graph& model, const Plan& plan)
{
    return FloatKnapsack(blame, model, plan, macsByOperator(model)).front(int8Share(model, plan));
}

} // namespace qs
