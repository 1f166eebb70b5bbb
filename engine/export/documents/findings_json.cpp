// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/ranges/scale_bounds.h"
#include "engine/convert/ranges/shared_ranges.h"
#include "engine/export/documents/node_json.h"

namespace qs {

namespace {

Json sharedJson(const Graph& model, const SharedRange& shared)
{
    Json values = Json::array();
    for (const SharedRange::Member& member : shared.members)
        values.push_back({{"node", model.value(member.value).name},
                          {"min", member.min},
                          {"max", member.max},
                          {"cost_db", numberJson(member.costDb)}});
    return {{"kind", "shared_range"},
            {"node", model.value(shared.members[shared.worst].value).name},
            {"widest", model.value(shared.members[shared.widest].value).name},
            {"separate", shared.separator ? Json(model.get(shared.separator).name) : Json(nullptr)},
            {"values", std::move(values)},
            {"text", shared.text}};
}

Json findingJson(const Graph& model, const PlanFinding& finding)
{
    return {{"kind", finding.kind}, {"node", model.get(finding.node).name}, {"text", finding.text}};
}

} // namespace

Json findingsJson(const Graph& model, const Plan& plan)
{
    Json list = Json::array();
    for (const PlanFinding& finding : plan.findings)
        list.push_back(findingJson(model, finding));
    return list;
}

Result<Json> findingsJson(const ResultParts& parts, const JobContext& job)
{
    Json list = findingsJson(*parts.model, *parts.plan);
    QS_CHECK(job.check());
    if (parts.converted)
        for (const PlanFinding& finding :
             scaleBoundFindings(*parts.model, *parts.plan, parts.converted->qparams))
            list.push_back(findingJson(*parts.model, finding));
    QS_CHECK(job.check());
    if (parts.converted && parts.observations)
        for (const SharedRange& shared : sharedRanges(
                 *parts.converted->prepared, parts.converted->qparams, *parts.observations))
            list.push_back(sharedJson(*parts.model, shared));
    QS_CHECK(job.check());
    return list;
}

} // namespace qs
