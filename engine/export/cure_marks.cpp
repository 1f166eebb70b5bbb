// SPDX-License-Identifier: Apache-2.0
#include "engine/export/cure_marks.h"

#include "engine/configure/edit_text.h"
#include "engine/configure/json/cure_json.h"
#include "engine/plan/cures/expand_cures.h"

#include <unordered_map>

namespace qs {

namespace {

/// Marks the entries of one document.
class CureMarks
{
public:
    explicit CureMarks(const ResultParts& parts)
        : m_parts(parts)
        , m_all(parts.recipe->cures)
    {
        for (std::size_t cure = 0; cure < m_all.size(); ++cure)
            if (m_all[cure].kind == CureKind::Bound) // a bound is not a rule of the plan
                for (const NodeId node : parts.cures->nodesOf(cure))
                    m_bounds.emplace(node, cure);
    }

    void add(Json& entry) const
    {
        const Node* node = m_parts.model->tryFind(entry.at("name").get<std::string>());
        const NodePlan* plan = node ? m_parts.plan->tryGet(*m_parts.model, node->id) : nullptr;
        if (const auto bound = node ? m_bounds.find(node->id) : m_bounds.end();
            bound != m_bounds.end())
            entry["cure"] = mark(int(bound->second));
        if (!plan)
            return;
        if (const int cure = m_parts.cures->cureOf(plan->rule);
            plan->rule.kind != RuleKind::None && cure >= 0)
            entry["cure"] = mark(cure);
        for (std::size_t i = 0; i < plan->inputRules.size(); ++i)
            if (const int cure = m_parts.cures->cureOf(plan->inputRules[i]); cure >= 0)
                entry["rule"]["inputs"][i]["cure"] = mark(cure);
    }

    Json list() const
    {
        Json list = curesToJson(m_all);
        for (std::size_t cure = 0; cure < m_all.size(); ++cure) {
            Json nodes = Json::array();
            for (const NodeId node : m_parts.cures->nodesOf(cure))
                if (const Node* found = m_parts.model->tryGet(node))
                    nodes.push_back(found->name);
            list[cure]["text"] = cureText(m_all[cure]);
            list[cure]["nodes"] = std::move(nodes);
        }
        for (const CurePlace& place : m_parts.cures->places)
            if (!place.problem.empty())
                list[place.cure]["problem"] = place.problem;
        return list;
    }

private:
    Json mark(int cure) const
    {
        const Cure& told = m_all[std::size_t(cure)];
        return {{"index", cure},
                {"kind", cureKindName(told.kind)},
                {"by", told.by.empty() ? Json(nullptr) : Json(told.by)}};
    }

    const ResultParts& m_parts;
    const std::vector<Cure>& m_all;
    std::unordered_map<NodeId, std::size_t> m_bounds;
};

} // namespace

void addCures(Json& document, const ResultParts& parts)
{
    if (!parts.cures || parts.recipe->cures.empty())
        return;
    const CureMarks marks(parts);
    for (Json& entry : document.at("nodes"))
        marks.add(entry);
    document["cures"] = marks.list();
}

} // namespace qs
