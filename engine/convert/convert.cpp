// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/convert.h"

#include "engine/base/torch_guard.h"
#include "engine/convert/emit_kernel.h"
#include "engine/convert/insert_qdq.h"
#include "engine/convert/kernel_check.h"
#include "engine/convert/lower.h"
#include "engine/convert/lowering_residue.h"

#include <ATen/Context.h>

#include <algorithm>

namespace qs {

namespace {

/// LibTorch packs weights for, and runs, one quantized engine at a time.
void selectEngine(const std::string& backend)
{
    at::QEngine wanted = at::QEngine::X86;
    if (backend == "fbgemm")
        wanted = at::QEngine::FBGEMM;
    else if (backend == "qnnpack")
        wanted = at::QEngine::QNNPACK;
    else if (backend == "onednn")
        wanted = at::QEngine::ONEDNN;
    const auto& there = at::globalContext().supportedQEngines();
    if (std::find(there.begin(), there.end(), wanted) != there.end())
        at::globalContext().setQEngine(wanted);
}

/// Float node to the last member of the group it was matched in.
std::unordered_map<NodeId, NodeId> lastMembers(const Plan& plan)
{
    std::unordered_map<NodeId, NodeId> last;
    for (const MatchGroup& group : plan.groups)
        for (NodeId member : group.members)
            last[member] = group.members.back();
    return last;
}

} // namespace

Result<ConvertedPtr> convertModel(PreparedPtr prepared, QParamsTable qparams, const Recipe& recipe,
                                  const Batch* checkBatch, const JobContext& job)
{
    const InferenceScope scope;
    registerQuantizedDecomposed();
    auto model = std::make_shared<ConvertedModel>();
    model->prepared = std::move(prepared);
    model->qparams = std::move(qparams);
    job.report("convert", "reference form", 0.1);
    QS_CHECK(guardTorch([&] { return buildReference(*model, job); }));

    LoweringOptions options;
    QS_TRY(options.rows, kernelRows(recipe));
    for (const LoweringRow& added : recipe.loweringAdd)
        QS_CHECK(kernelTarget(added.to));
    options.lastMember = lastMembers(*model->prepared->plan);
    QS_CHECK(guardTorch([&]() -> Result<void> {
        selectEngine(recipe.backend);
        return {};
    }));
    job.report("convert", "lowering", 0.4);
    QS_TRY(LoweredGraph lowered, lowerGraph(*model->reference, options, job));
    if (checkBatch) {
        job.report("convert", "checking kernels", 0.5);
        QS_TRY(model->checks, checkKernels(model->reference, lowered, *checkBatch, job));
        for (std::size_t i = 0; i < model->checks.size(); ++i)
            if (!model->checks[i].passed)
                options.refused[lowered.sites[i].quantize] = model->checks[i].reason;
        if (!options.refused.empty()) {
            QS_TRY(lowered, lowerGraph(*model->reference, options, job));
        }
    }
    model->lowered = lowered.graph;
    model->residue = findResidue(*model, lowered);
    job.report("convert", "done", 1);
    return model;
}

} // namespace qs
