// SPDX-License-Identifier: Apache-2.0
#include "engine/verify/own_runs.h"

#include "engine/compare/output_run.h"
#include "engine/export/exporter.h"

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
        outputs.push_back(std::move(made));
    }
    return outputs;
}

} // namespace

Result<OwnRuns> OwnRuns::create(const VerifyRequest& request, const std::vector<Batch>& batches,
                                const JobContext& job)
{
    const ConvertedModel& converted = request.converted;
    const std::vector<std::string>& cutFiles = request.ownRangeFiles;
    OwnRuns runs;
    const bool isSequence = request.data.isSequence();
    QS_TRY(runs.m_float, outputsOf(converted.prepared->model, "float", isSequence, batches, job));
    GraphPtr cutGraph; // forms share it
    for (const auto& [form, file] : request.exports) {
        if (exportFile(form).empty())
            continue; // of another version of this program
        const bool isCut = holdsOwnRanges(form)
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
        OwnRun own;
        QS_TRY(own.outputs, outputsOf(graph, form, isSequence, batches, job));
        const GraphPtr& quantizing = graph == converted.lowered ? converted.reference : graph;
        QS_TRY(own.integers, ownIntegers(quantizing, batches.front().inputs, job));
        runs.m_runs[graph] = std::move(own);
    }
    return runs;
}

} // namespace qs
