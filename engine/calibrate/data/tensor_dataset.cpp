// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/data/tensor_dataset.h"

#include "engine/base/log.h"
#include "engine/base/text.h"
#include "engine/calibrate/data/dimension_rules.h"
#include "engine/calibrate/data/input_data.h"
#include "engine/execute/torch_types.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace qs {

namespace {

std::string nameText(const NamedTensor& one, std::size_t position)
{
    return one.name.empty() ? "tensor " + std::to_string(position) : "array '" + one.name + "'";
}

// One input's data and the number of its rows per call.
struct InputData
{
    StoredTensor stored;
    Node input; ///< the input of the graph
    std::string what; ///< its name in errors
    std::int64_t perCall = 1;

    std::int64_t rows() const { return stored.layout.sizes.at(0); }
    std::int64_t rowsOfCall(std::int64_t call) const
    {
        return std::min(perCall, rows() - call * perCall);
    }
};

class SampleDataset : public Dataset
{
public:
    SampleDataset(std::vector<InputData> inputs, at::Tensor labels, std::int64_t calls)
        : m_inputs(std::move(inputs))
        , m_labels(std::move(labels))
        , m_calls(calls)
    {
    }
    std::int64_t batchCount() const override { return m_calls; }
    bool hasLabels() const override { return m_labels.defined(); }
    Result<std::int64_t> samplesIn(std::int64_t index) const override
    {
        return m_inputs[0].rowsOfCall(index);
    }
    Result<Batch> batch(std::int64_t index) const override
    {
        Batch out;
        out.samples = m_inputs[0].rowsOfCall(index);
        for (const auto& input : m_inputs) {
            const std::int64_t begin = index * input.perCall;
            const std::int64_t end = begin + input.rowsOfCall(index);
            auto rows = readRows(input.stored, begin, end);
            if (!rows)
                return fail(namedError(std::move(rows).error(), input.what));
            QS_CHECK(
                addInput(out, *rows, input.input, input.what, begin, input.stored.archive->path()));
        }
        if (m_labels.defined()) {
            const std::int64_t begin = index * m_inputs[0].perCall;
            out.labels = m_labels.slice(0, begin, begin + out.samples);
        }
        return out;
    }

private:
    std::vector<InputData> m_inputs;
    at::Tensor m_labels;
    std::int64_t m_calls;
};

// Removes the labels from the tensors and returns them.
Result<at::Tensor> takeLabels(std::vector<NamedTensor>& tensors, const Graph& graph)
{
    const auto inputs = graph.inputs();
    const bool isInput = std::any_of(inputs.begin(), inputs.end(),
                                     [](const Node* input) { return input->name == "labels"; });
    const auto found = std::find_if(tensors.begin(), tensors.end(),
                                    [](const NamedTensor& one) { return one.name == "labels"; });
    if (isInput || found == tensors.end())
        return at::Tensor();
    const StoredTensor stored = found->stored;
    tensors.erase(found);
    if (stored.layout.sizes.size() != 1 || !isWholeNumber(stored.layout.dtype))
        return fail(ErrorCode::BadInput, "array 'labels' must hold one whole number a sample");
    auto labels = readWhole(stored);
    if (!labels)
        return fail(namedError(std::move(labels).error(), "array 'labels'"));
    return labels->to(at::kLong);
}

// "'imgB' as 'left', 'imgA' as 'right'"
std::string pairing(const std::vector<NamedTensor>& tensors, const std::vector<const Node*>& inputs)
{
    std::string text;
    for (std::size_t i = 0; i < tensors.size(); ++i)
        text += (i ? ", '" : "'") + tensors[i].name + "' as '" + inputs[i]->name + "'";
    return text;
}

// Returns the tensors in the order of the inputs.
Result<std::vector<NamedTensor>> matchInputs(std::vector<NamedTensor> tensors,
                                             const std::vector<const Node*>& inputs)
{
    if (tensors.size() != inputs.size())
        return fail(ErrorCode::BadInput,
                    "holds " + std::to_string(tensors.size()) + " input arrays, the model takes "
                        + std::to_string(inputs.size()) + " (" + inputNames(inputs) + ")");
    std::vector<NamedTensor> byName;
    std::string stray;
    bool misplaced = false;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const auto found
            = std::find_if(tensors.begin(), tensors.end(),
                           [&](const NamedTensor& one) { return one.name == inputs[i]->name; });
        if (found == tensors.end())
            continue;
        byName.push_back(*found);
        misplaced = misplaced || std::size_t(found - tensors.begin()) != i;
    }
    if (byName.size() == inputs.size())
        return byName;
    for (const auto& one : tensors)
        if (std::none_of(inputs.begin(), inputs.end(),
                         [&](const Node* input) { return input->name == one.name; }))
            stray = one.name;
    // Some names match but contradict the order, so neither interpretation is safe.
    if (misplaced)
        return fail(
            makeError(ErrorCode::BadInput, "array '" + stray + "' is not an input of the model")
                .withHint("name the arrays " + inputNames(inputs)));
    // NumPy names arrays saved without names arr_0, arr_1, …
    if (!stray.empty() && !stray.starts_with("arr_"))
        note("arrays are taken in the file's order, not by name: " + pairing(tensors, inputs));
    return tensors;
}

std::optional<std::int64_t> modelBatch(const std::vector<const Node*>& inputs)
{
    for (const Node* input : inputs)
        if (const auto fixed = fixedBatch(*input))
            return fixed;
    return std::nullopt;
}

Result<std::vector<InputData>> checkedInputs(const std::vector<NamedTensor>& tensors,
                                             const std::vector<const Node*>& inputs,
                                             const DatasetOptions& options)
{
    const auto fixed = modelBatch(inputs);
    std::vector<InputData> out;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const std::string what = nameText(tensors[i], i);
        const StoredTensor& stored = tensors[i].stored;
        if (stored.layout.sizes.empty())
            return fail(ErrorCode::BadInput,
                        what + " is a single number; its first dimension must count samples");
        QS_CHECK(checkForm(formOf(stored), *inputs[i], what, false));
        const auto own = fixedBatch(*inputs[i]);
        const std::int64_t perCall = own ? *own : fixed.value_or(options.batchSize);
        const std::int64_t rows = stored.layout.sizes[0];
        if (perCall <= 0)
            return fail(ErrorCode::BadInput, "the batch size must be 1 or more");
        if (rows < 1)
            return fail(ErrorCode::BadInput, what + " holds no sample");
        if (own && rows < *own)
            return fail(ErrorCode::BadInput,
                        what + " holds " + counted(rows, "sample") + ", input '" + inputs[i]->name
                            + "' takes " + std::to_string(*own) + " at a time");
        noteTypeChange(stored.layout.dtype, *inputs[i], what);
        out.push_back({stored, *inputs[i], what, perCall});
    }
    return out;
}

// Checks the constraints on symbolic dimensions for each shape that a call will have.
Result<void> checkShapes(const Graph& graph, const std::vector<InputData>& inputs,
                         std::int64_t calls)
{
    const DimensionRules rules(graph);
    for (std::int64_t call = 0; call < calls && !rules.empty();
         call = call + 1 < calls ? calls - 1 : calls) { // all but the last have the same shapes
        std::vector<at::IValue> shapes;
        for (const InputData& input : inputs) {
            auto sizes = input.stored.layout.sizes;
            sizes[0] = input.rowsOfCall(call);
            shapes.push_back(outline(sizes));
        }
        QS_CHECK(rules.check(shapes, "batch " + std::to_string(call + 1)));
    }
    return {};
}

// Returns the number of calls for which every input has data. An incomplete tail counts if the
// batch size is variable.
Result<std::int64_t> countCalls(const std::vector<InputData>& inputs, bool fixed)
{
    const auto calls = [&](const InputData& one) {
        return fixed ? one.rows() / one.perCall : (one.rows() + one.perCall - 1) / one.perCall;
    };
    for (std::size_t i = 1; i < inputs.size(); ++i)
        if (calls(inputs[i]) != calls(inputs[0])
            || (inputs[i].perCall == inputs[0].perCall && inputs[i].rows() != inputs[0].rows()))
            return fail(ErrorCode::BadInput,
                        inputs[i].what + " holds " + counted(inputs[i].rows(), "sample") + ", "
                            + inputs[0].what + " holds " + std::to_string(inputs[0].rows()));
    const std::int64_t tail = inputs[0].rows() % inputs[0].perCall;
    if (fixed && tail != 0)
        note("the model fixes the batch size to " + std::to_string(inputs[0].perCall)
             + ": the last " + std::to_string(tail) + " of " + counted(inputs[0].rows(), "sample")
             + " are not used");
    return calls(inputs[0]);
}

} // namespace

Result<std::unique_ptr<Dataset>> makeSampleDataset(std::vector<NamedTensor> tensors,
                                                   const Graph& graph,
                                                   const DatasetOptions& options)
{
    QS_TRY(const at::Tensor labels, takeLabels(tensors, graph));
    const auto inputs = graph.inputs();
    if (inputs.empty())
        return fail(ErrorCode::BadInput, "the model takes no input: there is nothing to feed");
    QS_TRY(const std::vector<NamedTensor> ordered, matchInputs(std::move(tensors), inputs));
    QS_TRY(const std::vector<InputData> data, checkedInputs(ordered, inputs, options));
    const bool fixed = modelBatch(inputs).has_value();
    QS_TRY(std::int64_t calls, countCalls(data, fixed));
    if (options.batches > 0)
        calls = std::min(calls, options.batches);
    if (const std::int64_t used = calls * data[0].perCall;
        used < data[0].rows() && calls > 1 && calls == options.batches)
        note("of " + counted(data[0].rows(), "sample") + " the first " + std::to_string(used)
             + " are used: " + counted(calls, "batch") + " of " + std::to_string(data[0].perCall)
             + kTakeAll);
    const std::int64_t rows = data[0].rows();
    if (labels.defined()
        && (labels.size(0) > rows || labels.size(0) < std::min(rows, calls * data[0].perCall)))
        return fail(ErrorCode::BadInput,
                    "array 'labels' holds " + counted(labels.size(0), "label") + " for "
                        + counted(rows, "sample"));
    QS_CHECK(checkShapes(graph, data, calls));
    return std::make_unique<SampleDataset>(data, labels, calls);
}

} // namespace qs
