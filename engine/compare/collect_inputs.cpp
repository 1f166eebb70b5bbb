// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/collect_inputs.h"

#include "engine/base/each_of.h"
#include "engine/base/torch_guard.h"
#include "engine/calibrate/data/batch_reader.h"
#include "engine/execute/interpreter.h"
#include "engine/io/npy_tensor.h"
#include "engine/io/npz_stream.h"

#include <ATen/ATen.h>

#include <unordered_map>

namespace qs {

namespace {

/// One extraction, run: from the inputs of what it was taken out of to those of the part.
class Feeder
{
public:
    /// `part`: the graph right after the extraction, or one with the same inputs.
    static Result<Feeder> create(const Extraction& extraction)
    {
        QS_TRY(Interpreter interpreter, Interpreter::create(extraction.whole));
        return Feeder(extraction, std::move(interpreter));
    }

    Result<std::unordered_map<NodeId, at::IValue>>
    run(const std::unordered_map<NodeId, at::IValue>& given, const JobContext& job, bool goesOn)
    {
        std::vector<at::IValue> inputs;
        for (const Node* input : m_interpreter.graph().inputs())
            inputs.push_back(given.at(input->id));
        std::unordered_map<ValueRef, at::IValue> seen;
        const Tap keep = [&](ValueRef ref, const Node&, const at::IValue& value) -> Result<void> {
            for (const auto& [input, wanted] : m_extraction.inputs)
                if (wanted == ref)
                    seen[ref] = value;
            return {};
        };
        QS_CHECK(m_interpreter.run(std::move(inputs), keep, job, goesOn ? &m_state : nullptr));
        std::unordered_map<NodeId, at::IValue> out;
        for (const auto& [input, wanted] : m_extraction.inputs) {
            if (const auto it = seen.find(wanted); it != seen.end()) {
                out[input] = it->second;
                continue;
            }
            QS_TRY(out[input], m_interpreter.constant(wanted));
        }
        return out;
    }

private:
    Feeder(const Extraction& extraction, Interpreter interpreter)
        : m_extraction(extraction)
        , m_interpreter(std::move(interpreter))
    {
    }

    const Extraction& m_extraction;
    Interpreter m_interpreter;
    ModelState m_state;
};

Result<NpyArray> rowsOf(const Node& input, const at::IValue& value, const Batch& batch)
{
    const auto bad = [&](const std::string& what) {
        return fail(makeError(ErrorCode::BadInput,
                              "it is " + what + " in the whole model, which gives no row a sample")
                        .atNode(input.name)
                        .withHint("extract what computes it too"));
    };
    if (!value.isTensor() || !value.toTensor().defined())
        return bad("no tensor");
    const at::Tensor& tensor = value.toTensor();
    if (tensor.dim() == 0 || tensor.size(0) != batch.samples)
        return bad("a tensor of " + c10::str(tensor.sizes()) + " for "
                   + std::to_string(batch.samples) + " samples");
    return npyFromTensor(input.name, tensor.contiguous());
}

Result<void> collect(const EditedModel& part, const Dataset& data, const std::string& path,
                     const JobContext& job)
{
    QS_TRY(std::vector<Feeder> feeders, eachOf(part.extractions, Feeder::create));
    const auto wholeInputs = part.extractions.front().whole->inputs();
    QS_TRY(NpzStream file, NpzStream::create(path));
    bool labelled = data.hasLabels();
    for (const Node* input : part.graph->inputs())
        labelled = labelled && input->name != "labels";
    BatchReader reader(data, job);
    for (std::int64_t i = 0; i < reader.count(); ++i) {
        job.report("collect", "batch " + std::to_string(i + 1), double(i) / double(reader.count()));
        QS_TRY(const Batch batch, reader.next());
        std::unordered_map<NodeId, at::IValue> values;
        for (std::size_t k = 0; k < wholeInputs.size(); ++k)
            values[wholeInputs[k]->id] = batch.inputs.at(k);
        for (Feeder& feeder : feeders) {
            QS_TRY(values, feeder.run(values, job, data.isSequence()));
        }
        for (const Node* input : part.graph->inputs()) {
            QS_TRY(const NpyArray rows, rowsOf(*input, values.at(input->id), batch));
            QS_CHECK(file.append(rows));
        }
        if (labelled && batch.labels.defined())
            QS_CHECK(file.append(npyFromTensor("labels", batch.labels)));
    }
    return file.commit();
}

} // namespace

Result<void> writePartInputs(const EditedModel& part, const Dataset& data, const std::string& path,
                             const JobContext& job)
{
    if (part.extractions.empty())
        return fail(makeError(ErrorCode::BadInput, "the edits extract no part")
                        .withHint("its inputs are the model's own: use the data as they are"));
    const InferenceScope inference;
    return guardTorch([&] { return collect(part, data, path, job); });
}

} // namespace qs
