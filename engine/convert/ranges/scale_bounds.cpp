// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/ranges/scale_bounds.h"

#include "engine/base/text.h"

#include <algorithm>

namespace qs {

namespace {

/// The observer whose parameters that reader of the value gets; null where it reads floats.
const PlannedObserver* observerOf(const Plan& plan, ValueRef value, const Use* reader)
{
    const PlannedObserver* ofAll = nullptr;
    for (const PlannedObserver& observer : plan.observers)
        for (const ObservedEdge& edge : observer.edges) {
            if (edge.value != value || observer.isWeight)
                continue;
            if (edge.readers.empty())
                ofAll = &observer;
            else if (reader
                     && std::find(edge.readers.begin(), edge.readers.end(), *reader)
                         != edge.readers.end())
                return &observer;
        }
    return ofAll;
}

/// Checks one operator after another.
class ScaleBoundCheck
{
public:
    ScaleBoundCheck(const Graph& model, const Plan& plan, const QParamsTable& qparams)
        : m_model(model)
        , m_plan(plan)
        , m_qparams(qparams)
    {
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
                hold(group.root, config.input, observerOf(m_plan, value, &use),
                     "its input " + inQuotes(m_model.value(value).name));
        const NodeId last = group.members.back();
        hold(last, config.output, observerOf(m_plan, {last, 0}, nullptr), "its result");
        for (const PlannedObserver& observer : m_plan.observers)
            if (observer.isWeight && observer.weightOwner == group.root
                && observer.interior.empty())
                hold(group.root, config.weight, &observer, "its weight");
    }

    void hold(NodeId node, const DTypeWithConstraints& wanted, const PlannedObserver* observer,
              const std::string& what)
    {
        const auto chosen = observer ? m_qparams.find(observer->id) : m_qparams.end();
        if (chosen == m_qparams.end() || chosen->second.scale.empty())
            return;
        const auto [least, most]
            = std::minmax_element(chosen->second.scale.begin(), chosen->second.scale.end());
        // Scales are float32, bounds are written in JSON.
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
    std::vector<PlanFinding> m_found;
};

} // namespace

std::vector<PlanFinding> scaleBoundFindings(const Graph& model, const Plan& plan,
                                            const QParamsTable& qparams)
{
    return ScaleBoundCheck(model, plan, qparams).run();
}

} // namespace qs
