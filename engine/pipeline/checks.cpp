// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/checks.h"

#include "engine/base/log.h"
#include "engine/base/text.h"
#include "engine/plan/model_warnings.h"
#include "engine/plan/overrides/not_finite_values.h"

#include <algorithm>

namespace qs {

namespace {

/// Most names in one line.
constexpr std::size_t kNamed = 8;

/// Name of the float node whose value or weight an observer observes, for messages.
std::string observedName(const Graph& model, const PlannedObserver& observer)
{
    const bool own = observer.isWeight || observer.edges.empty() || !observer.interior.empty();
    const Node* node = model.tryGet(own ? observer.weightOwner : observer.edges.front().value.node);
    return node ? node->name : "?";
}

std::string listed(const std::vector<std::string>& names)
{
    std::string text;
    for (std::size_t i = 0; i < names.size() && i < kNamed; ++i)
        text += (i ? ", '" : "'") + names[i] + "'";
    if (names.size() > kNamed)
        text += " and " + std::to_string(names.size() - kNamed) + " more";
    return text;
}

} // namespace

Result<void> checkFloat(const Graph& model)
{
    const std::string already = alreadyQuantized(model);
    if (already.empty())
        return {};
    return fail(makeError(ErrorCode::BadInput, already)
                    .inFile(model.info().path)
                    .withHint("quantize the float model it was made from; 'quantscope inspect' "
                              "shows its parameters, 'compare FLOAT --result FILE' what it loses"));
}

Result<void> checkCoverage(const Graph& model, const Plan& plan)
{
    if (plan.quantizedOps > 0)
        return {};
    const auto main = mainReason(plan);
    const std::string remedy = main ? main->node->remedy.text : std::string();
    return fail(makeError(ErrorCode::BadInput,
                          "no node would be quantized, of " + counted(plan.totalOps, "operator")
                              + "; the main reason: "
                              + (main ? main->node->reason.text() : "the model has no operators"))
                    .inFile(model.info().path)
                    .withHint((remedy.empty() ? remedy : remedy + "; ")
                              + "'quantscope plan' says why for every node"));
}

std::vector<std::string> strictFindings(const Graph& model, const Plan& plan)
{
    std::vector<std::string> found = plan.warnings;
    for (std::size_t i = 0; i < plan.nodes.size(); ++i)
        if (plan.nodes[i].verdict == Verdict::FloatByConstraint)
            found.push_back("node '" + model.nodes()[i]->name
                            + "': its qconfig is dropped: " + plan.nodes[i].reason.text());
    return found;
}

Result<void> checkCalibrated(const Graph& model, const Plan& plan, const QParamsTable& qparams,
                             const std::vector<std::string>& waived)
{
    std::vector<std::string> refused;
    for (const PlannedObserver& observer : plan.observers) {
        const auto chosen = qparams.find(observer.id);
        if (chosen == qparams.end() || chosen->second.calibrated)
            continue;
        const std::string name = observedName(model, observer);
        const bool isWaived = std::find(waived.begin(), waived.end(), name) != waived.end();
        if (isWaived)
            warn("node '" + name
                 + "': its observer never saw a value; scale 1 and zero point 0 are used, as the "
                   "recipe allows");
        else if (std::find(refused.begin(), refused.end(), name) == refused.end())
            refused.push_back(name);
    }
    if (refused.empty())
        return {};
    const bool one = refused.size() == 1;
    return fail(makeError(ErrorCode::BadInput,
                          std::string(one ? "the observer of " : "the observers of ")
                              + listed(refused) + " never saw a value, so "
                              + (one ? "it has" : "they have") + " no scale")
                    .inFile(model.info().path)
                    .atNode(refused.front())
                    .withHint("calibrate on data that reach " + std::string(one ? "it" : "them")
                              + ", keep " + (one ? "it" : "them")
                              + " float, or list the names under \"convert\": {\"uncalibrated\": "
                                "[...]} to accept scale 1 and zero point 0"));
}

std::vector<PlanFinding> notFiniteFindings(const Calibration& calibration)
{
    std::vector<PlanFinding> found;
    for (const PlanFinding& finding : calibration.prepared->plan->findings)
        if (finding.kind == kNotFinite
            && calibration.notFinite.contains(calibration.prepared->model->get(finding.node).name))
            found.push_back(finding);
    return found;
}

} // namespace qs
