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

/// Runs the graph before an extraction from its inputs to the inputs of the part.
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

/// Runs all extractions in turn. Borrows the edited model, which must have an extraction.
class PartFeeder
{
public:
    static Result<PartFeeder> create(const EditedModel& part)
    {
        QS_TRY(std::vector<Feeder> feeders, eachOf(part.extractions, Feeder::create));
        return PartFeeder(part, std::move(feeders));
    }

    /// The values of the part's inputs, in order.
    Result<std::vector<at::IValue>> run(const Batch& batch, const JobContext& job, bool goesOn)
    {
        std::unordered_map<NodeId, at::IValue> values;
        const auto inputs = m_part.extractions.front().whole->inputs();
        for (std::size_t k = 0; k < inputs.size(); ++k)
            values[inputs[k]->id] = batch.inputs.at(k);
        for (Feeder& feeder : m_feeders) {
            QS_TRY(values, feeder.run(values, job, goesOn));
        }
        std::vector<at::IValue> out;
        for (const Node* input : m_part.graph->inputs())
            out.push_back(values.at(input->id));
        return out;
    }

private:
    PartFeeder(const EditedModel& part, std::vector<Feeder> feeders)
        : m_part(part)
        , m_feeders(std::move(feeders))
    {
    }

    const EditedModel& m_part;
    std::vector<Feeder> m_feeders;
};

Result<void> collect(const EditedModel& part, const Dataset& data, const std::string& path,
                     const JobContext& job)
{
    QS_TRY(PartFeeder feeder, PartFeeder::create(part));
    const auto inputs = part.graph->inputs();
    QS_TRY(NpzStream file, NpzStream::create(path));
    bool labelled = data.hasLabels();
    for (const Node* input : inputs)
        labelled = labelled && input->name != "labels";
    BatchReader reader(data, job);
    for (std::int64_t i = 0; i < reader.count(); ++i) {
        job.report("collect", "batch " + std::to_string(i + 1), double(i) / double(reader.count()));
        QS_TRY(const Batch batch, reader.next());
        QS_TRY(const auto values, feeder.run(batch, job, data.isSequence()));
        for (std::size_t k = 0; k < inputs.size(); ++k) {
            QS_TRY(const NpyArray rows, rowsOf(*inputs[k], values[k], batch));
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

Result<std::vector<Batch>> partBatches(const EditedModelPtr& part, std::vector<Batch> batches,
                                       bool isSequence, const JobContext& job)
{
    if (!part || part->extractions.empty())
        return batches;
    QS_TRY(PartFeeder feeder, PartFeeder::create(*part));
    for (Batch& batch : batches) {
        QS_TRY(batch.inputs, feeder.run(batch, job, isSequence));
        batch.notFinite.clear();
    }
    return batches;
}

} // namespace qs
