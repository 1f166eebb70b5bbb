// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/check_written.h"

#include "engine/base/memory/free_later.h"
#include "engine/base/text.h"
#include "engine/base/torch_guard.h"
#include "engine/calibrate/data/call_inputs.h"
#include "engine/compare/collect_inputs.h"
#include "engine/compare/metrics/metrics.h"
#include "engine/execute/interpreter.h"
#include "engine/execute/random/random_draws.h"
#include "engine/export/exporter.h"
#include "engine/import/importer.h"
#include "engine/result/result_document.h"

#include <ATen/ATen.h>

namespace qs {

namespace {

/// Least agreement. The kernels are the same, but a graph that was written and read again may sum
/// in another order.
constexpr double kLeastDb = 40;

Result<std::vector<at::IValue>>
outputsOf(const GraphPtr& graph, const std::vector<at::IValue>& inputs, const JobContext& job)
{
    QS_TRY(const Interpreter interpreter, Interpreter::create(graph, {}, job));
    return guardTorchValue<std::vector<at::IValue>>(
        [&] { return interpreter.run(inputs, {}, job); });
}

Result<std::string> compareOutputs(const std::vector<at::IValue>& wanted,
                                   const std::vector<at::IValue>& made, const std::string& path)
{
    if (wanted.size() != made.size())
        return fail(
            makeError(ErrorCode::Numeric,
                      "the written file returns " + counted(std::int64_t(made.size()), "value")
                          + " where the converted model returns " + std::to_string(wanted.size()))
                .inFile(path));
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (!wanted[i].isTensor() || !made[i].isTensor())
            continue;
        const at::Tensor signal = wanted[i].toTensor(), other = made[i].toTensor();
        if (!signal.is_floating_point() || signal.sizes() != other.sizes())
            continue;
        ErrorSums sums;
        QS_CHECK(addError(sums, signal, other));
        const auto metrics = metricsFrom(sums);
        if (metrics && metrics->sqnrDb && *metrics->sqnrDb < kLeastDb)
            return fail(makeError(ErrorCode::Numeric,
                                  "read back, the written file computes other values than the "
                                  "converted model: output "
                                      + std::to_string(i) + " agrees to "
                                      + fixedText(*metrics->sqnrDb, 1) + " dB, 40 dB are required")
                            .inFile(path)
                            .withHint("export another form; please report the model"));
    }
    return std::string();
}

} // namespace

Result<std::string> checkWritten(const ConvertedModel& converted, const std::string& form,
                                 bool saturates, const std::string& path, const Batch& batch,
                                 const JobContext& job)
{
    if (!isReadBack(form))
        return "this program does not read ONNX; 'quantscope verify' runs it in ONNX Runtime";
    const InferenceScope inference;
    QS_TRY(const GraphPtr graph, exportedGraph(converted, form, saturates, job));
    auto imported = importModel(path, job);
    QS_CHECK(job.check());
    if (!imported)
        return imported.error().message;
    const auto read = makeFreedLater<GraphPtr>(std::move(*imported));
    QS_TRY(const std::vector<Batch> given, guardTorchValue<std::vector<Batch>>([&] {
               return partBatches(exportedEdits(converted, form), {batch}, false, job);
           }));
    QS_TRY(const CallInputs structure, CallInputs::create(*graph));
    const auto inputs = structure.inputsOf(**read, given.front().inputs);
    if (!inputs)
        return inputs.error().message;
    const auto made = outputsOf(*read, *inputs, job);
    QS_CHECK(job.check());
    if (!made)
        return made.error().message;
    if (!drawAlike(*graph, **read))
        return drawingText(*graph, **read) + "; " + kDrawNothing;
    QS_TRY(const auto wanted, outputsOf(graph, given.front().inputs, job));
    return compareOutputs(wanted, *made, path);
}

} // namespace qs
