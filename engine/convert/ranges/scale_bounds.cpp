// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/ranges/scale_bounds.h"

#include "engine/base/text.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace qs {

namespace {

/// Checks operators.
class ScaleBoundCheck
{
public:
    ScaleBoundCheck(const Graph& model, const Plan& plan, const QParamsTable& qparams)
        : m_model(model)
        , m_plan(plan)
        , m_qparams(qparams)
    {
        for (const PlannedObserver& observer : plan.observers) {
            if (observer.isWeight && observer.interior.empty())
                m_ofWeight.emplace(observer.weightOwner, &observer);
            if (!observer.isWeight)
                for (const ObservedEdge& edge : observer.edges)
                    m_ofValue.emplace(edge.value, Observed {&observer, &edge});
        }
    }

    std::vector<PlanFinding> run()
    {
        for (const MatchGroup& group : m_plan.groups)
            if (group.quantized && group.dtypeConfig)
                check(group, *group.dtypeConfig);
        return std::move(m_found);
    }

private:
    void check(const MatchGroup& group, const DTypeConfig& config)
    {
        const NodePlan* root = m_plan.tryGet(m_model, group.root);
        if (root)
            for (const auto& [use, value] : root->activations)
                hold(group.root, config.input, observerOf(value, &use),
                     "its input " + inQuotes(m_model.value(value).name));
        const NodeId last = group.members.back();
        hold(last, config.output, observerOf({last, 0}, nullptr), "its result");
        const auto weights = m_ofWeight.equal_range(group.root);
        for (auto it = weights.first; it != weights.second; ++it)
            hold(group.root, config.weight, it->second, "its weight");
    }

    /// Returns the observer with the parameters that a consumer of the value reads; null if it
    /// reads floats.
    const PlannedObserver* observerOf(ValueRef value, const Use* reader) const
    {
        const PlannedObserver* ofAll = nullptr;
        const auto all = m_ofValue.equal_range(value);
        for (auto it = all.first; it != all.second; ++it) {
            const auto& [observer, edge] = it->second;
            if (edge->readers.empty())
                ofAll = observer;
            else if (reader
                     && std::find(edge->readers.begin(), edge->readers.end(), *reader)
                         != edge->readers.end())
                return observer;
        }
        return ofAll;
    }

    void hold(NodeId node, const DTypeWithConstraints& wanted, const PlannedObserver* observer,
              const std::string& what)
    {
        const auto chosen = observer ? m_qparams.find(observer->id) : m_qparams.end();
        if (chosen == m_qparams.end() || chosen->second.scale.empty())
            return;
        const auto [least, most]
            = std::minmax_element(chosen->second.scale.begin(), chosen->second.scale.end());
        // Scales are float32, so compare with the JSON bounds rounded to float32.
        if (wanted.scaleMinLowerBound && *least < float(*wanted.scaleMinLowerBound))
            add(node, what, *least, "below", "scale_min_lower_bound", *wanted.scaleMinLowerBound,
                "give its observer \"eps\": " + numberText(*wanted.scaleMinLowerBound, 9));
        if (wanted.scaleMaxUpperBound && *most > float(*wanted.scaleMaxUpperBound))
            add(node, what, *most, "above", "scale_max_upper_bound", *wanted.scaleMaxUpperBound,
                "cut its range, or keep the operator float: \"node\": [[\"" + m_model.get(node).name
                    + "\", null]]");
    }

    void add(NodeId node, const std::string& what, float scale, const char* side, const char* bound,
             double limit, const std::string& cure)
    {
        m_found.push_back({node, "scale_bound",
                           inQuotes(m_model.get(node).name) + ": the scale of " + what + ", "
                               + numberText(scale, 6) + ", is " + side + " the " + bound + " of "
                               + m_plan.backend + ", " + numberText(limit, 6) + "; " + cure});
    }

    const Graph& m_model;
    const Plan& m_plan;
    const QParamsTable& m_qparams;
    using Observed = std::pair<const PlannedObserver*, const ObservedEdge*>;
    std::unordered_multimap<ValueRef, Observed> m_ofValue;
    std::unordered_multimap<NodeId, const PlannedObserver*> m_ofWeight;
    std::vector<PlanFinding> m_found;
};

} // namespace

std::vector<PlanFinding> scaleBoundFindings(const Graph& model, const Plan& plan,
                                            const QParamsTable& qparams)
{
    return ScaleBoundCheck(model, plan, qparams).run();
}

} // namespace qs
