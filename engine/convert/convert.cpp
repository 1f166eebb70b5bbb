// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/convert.h"

#include "engine/base/memory/free_later.h"
#include "engine/base/memory/freed_memory.h"
#include "engine/base/torch_guard.h"
#include "engine/configure/backend/target.h"
#include "engine/convert/insert_qdq.h"
#include "engine/convert/lowering/check_lowered.h"
#include "engine/convert/lowering/lower.h"
#include "engine/convert/lowering/lowering_ops.h"
#include "engine/convert/lowering/lowering_residue.h"
#include "engine/convert/lowering/quantized_engine.h"
#include "engine/convert/module_forms.h"
#include "engine/execute/fill_shapes.h"
#include "engine/graph/operators/operators.h"
#include "engine/graph/pass.h"
#include "engine/plan/rules/given_ranges.h"

#include <algorithm>
#include <array>

namespace qs {

namespace {

/// Float node to the last member of the group it was matched in.
std::unordered_map<NodeId, NodeId> lastMembers(const Plan& plan)
{
    std::unordered_map<NodeId, NodeId> last;
    for (const MatchGroup& group : plan.groups)
        for (NodeId member : group.members)
            last[member] = group.members.back();
    return last;
}

/// The plan's quantized operators, with whether each is dynamic. Leaves out an operator that only
/// moves values if the file gives its result a range: its kernel would keep the input's range.
std::unordered_map<NodeId, bool> quantizedOperators(const PreparedModel& prepared)
{
    const Plan& plan = *prepared.plan;
    std::unordered_map<NodeId, bool> found;
    for (const MatchGroup& group : plan.groups)
        for (NodeId member : group.members)
            if (group.quantized)
                found[member] = group.dtypeConfig && group.dtypeConfig->isDynamic;
    for (const PlannedObserver& observer : plan.observers)
        if (givenFor(*prepared.model, observer))
            for (const ObservedEdge& edge : observer.edges)
                if (movesValues(prepared.model->get(edge.value.node).target))
                    found.erase(edge.value.node);
    return found;
}

/// Why kernels are left out, by node of the reference form.
std::unordered_map<NodeId, std::string> sitesOf(const std::vector<RefusedKernel>& refused,
                                                const Graph& reference)
{
    std::unordered_map<std::string, std::string> reasons;
    for (const RefusedKernel& kernel : refused)
        reasons[kernel.site] = kernel.reason;
    std::unordered_map<NodeId, std::string> sites;
    for (const NodePtr& node : reference.nodes())
        if (const auto it = reasons.find(node->name); it != reasons.end())
            sites[node->id] = it->second;
    return sites;
}

} // namespace

Result<void> checkLoweringKernels(const Recipe& recipe)
{
    Recipe additions;
    additions.loweringAdd = recipe.loweringAdd;
    QS_TRY(const std::vector<KernelRow> rows, kernelRows(additions));
    const auto known = defaultKernelRows();
    for (const KernelRow& row : rows) {
        if (std::find(known.begin(), known.end(), row) != known.end())
            continue;
        auto checked = checkOperatorKinds(row.pattern);
        if (checked)
            if (auto target = kernelTarget(row.kernel); !target)
                checked = fail(std::move(target).error());
        if (!checked) {
            Error error = std::move(checked).error();
            error.message = "convert.lowering.add: " + error.message;
            return fail(std::move(error));
        }
    }
    return {};
}

Result<ReferenceModel> convertToReference(PreparedPtr prepared, QParamsTable qparams,
                                          const std::string& backend, const JobContext& job)
{
    const InferenceScope scope;
    registerQuantizedDecomposed();
    ReferenceModel made {std::shared_ptr<ConvertedModel>(new ConvertedModel, FreeLater())};
    made.model->prepared = std::move(prepared);
    made.model->qparams = std::move(qparams);
    QS_CHECK(guardTorch([&]() -> Result<void> {
        made.reduceRange = selectEngine(presetOf(backend));
        made.model->engine = currentEngine();
        return {};
    }));
    const auto quantized = [&made](const GraphPtr&, const JobContext& job) -> Result<GraphPtr> {
        QS_CHECK(guardTorch([&] { return buildReference(*made.model, made.reduceRange, job); }));
        return made.model->reference;
    };
    const std::array passes {Pass("quantize-dequantize", quantized)};
    QS_CHECK(runPasses(made.model->prepared->graph, passes, job));
    return made;
}

Result<ConvertedPtr> convertModel(PreparedPtr prepared, QParamsTable qparams, const Recipe& recipe,
                                  const KernelChecking& checking, const JobContext& job)
{
    const InferenceScope scope;
    job.report("convert", "reference form", 0.1);
    QS_TRY(const ReferenceModel made,
           convertToReference(std::move(prepared), std::move(qparams), recipe.target(), job));
    const auto& model = made.model;
    LoweringOptions options;
    options.reduceRange = made.reduceRange;
    if (checking.batch && lacksShapes(*model->reference)) { // the file states no shapes
        QS_TRY(Graph sized, withShapes(model->reference, checking.batch->inputs, job));
        model->reference = std::make_shared<const Graph>(std::move(sized));
    }
    QS_TRY(options.rows, kernelRows(recipe));
    QS_CHECK(checkLoweringKernels(recipe));
    QS_CHECK(job.check());
    options.lastMember = lastMembers(*model->prepared->plan);
    options.quantized = quantizedOperators(*model->prepared);
    for (const MatchGroup& group : model->prepared->plan->groups)
        if (group.floatResult)
            options.floatResults.insert(group.members.begin(), group.members.end());
    for (const NodePlan& node : model->prepared->plan->nodes)
        if (!node.quantized && !node.rule.qconfig.config)
            options.keptFloat.insert(node.node);
    options.modules = moduleLowerings(*model);
    if (checking.refused)
        options.refused = sitesOf(*checking.refused, *model->reference);
    job.report("convert", "lowering", 0.4);
    LoweredGraph lowered;
    const auto lower = [&](const GraphPtr& graph, const JobContext& job) -> Result<GraphPtr> {
        QS_TRY(lowered, lowerGraph(*graph, options, job));
        return lowered.graph;
    };
    const std::array passes {
        Pass("lower", lower, PassTraits {.isVerified = false})}; // lower verifies
    QS_CHECK(runPasses(model->reference, passes, job));
    QS_CHECK(job.check());
    if (checking.batch && !checking.isChecked)
        QS_CHECK(checkLowered(*model, checking, options, lowered, job));
    model->lowered = lowered.graph;
    model->residue = findResidue(*model, lowered);
    returnFreedMemory();
    job.report("convert", "done", 1);
    return model;
}

} // namespace qs
