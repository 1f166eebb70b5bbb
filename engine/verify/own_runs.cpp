// SPDX-License-Identifier: Apache-2.0
#include "engine/verify/own_runs.h"

#include "engine/compare/collect_inputs.h"
#include "engine/compare/output_run.h"
#include "engine/convert/form_parts.h"
#include "engine/export/exporter.h"
#include "engine/graph/output_names.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace qs {

namespace {

Result<BatchOutputs> outputsOf(const GraphPtr& graph, const std::string& form, bool isSequence,
                               const std::vector<Batch>& batches, const JobContext& job)
{
    QS_TRY(OutputRun run, OutputRun::create(graph));
    if (isSequence)
        run.followSequence();
    BatchOutputs outputs;
    for (const Batch& batch : batches) {
        job.report("verify", form + " here, batch " + std::to_string(outputs.size() + 1), 0);
        QS_TRY(auto made, run.run(batch, job));
        for (at::Tensor& tensor : made) // an edit may return quantized tensors
            if (tensor.defined() && tensor.is_quantized())
                tensor = tensor.dequantize();
        outputs.push_back(std::move(made));
    }
    return outputs;
}

/// Runs one form on the batches.
Result<OwnRun> runOf(const VerifyRequest& request, const std::string& form, GraphPtr graph,
                     const std::vector<Batch>& batches, const JobContext& job)
{
    const ConvertedModel& converted = request.converted;
    const EditedModelPtr edits = exportedEdits(converted, form);
    const bool isSequence = request.data.isSequence();
    OwnRun own;
    own.graph = std::move(graph);
    own.isPart = edits && !edits->extractions.empty();
    own.names = formOutputNames(*converted.prepared->model, edits);
    for (std::size_t i = 0; i < own.names.size(); ++i)
        own.places.push_back(edits ? edits->outputPlaces.at(i) : int(i));
    QS_TRY(own.batches, partBatches(edits, batches, isSequence, job));
    QS_TRY(own.outputs, outputsOf(own.graph, form, isSequence, own.batches, job));
    if (own.graph != converted.lowered) {
        QS_TRY(own.integers, ownIntegers(own.graph, own.batches.front().inputs, job));
        return own;
    }
    const auto whole = onModelInputs(std::make_shared<const ConvertedModel>(converted));
    QS_TRY(own.integers, ownIntegers(whole->reference, batches.front().inputs, job));
    return own;
}

} // namespace

Result<OwnRuns> OwnRuns::create(const VerifyRequest& request, const std::vector<Batch>& batches,
                                const JobContext& job)
{
    const ConvertedModel& converted = request.converted;
    const std::vector<std::string>& cutFiles = request.saturatingFiles;
    OwnRuns runs;
    const bool isSequence = request.data.isSequence();
    QS_TRY(runs.m_float, outputsOf(converted.prepared->model, "float", isSequence, batches, job));
    GraphPtr cutGraph; // forms share it
    for (const auto& [form, file] : request.exports) {
        if (exportFile(form).empty())
            continue; // written by another version of this program
        const bool isCut = holdsSaturatingForm(form)
            && std::find(cutFiles.begin(), cutFiles.end(), file) != cutFiles.end();
        GraphPtr graph = isCut ? cutGraph : nullptr;
        if (!graph) {
            QS_TRY(graph, exportedGraph(converted, form, isCut, job));
        }
        if (isCut)
            cutGraph = graph;
        runs.m_graphs[form] = graph;
        if (runs.m_runs.contains(graph))
            continue;
        QS_TRY(runs.m_runs[graph], runOf(request, form, graph, batches, job));
    }
    return runs;
}

} // namespace qs
