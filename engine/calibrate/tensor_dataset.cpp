// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/tensor_dataset.h"

#include "engine/base/log.h"
#include "engine/calibrate/input_check.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <set>

namespace qs {

namespace {

std::string nameText(const NamedTensor& one, std::size_t position)
{
    return one.name.empty() ? "tensor " + std::to_string(position) : "array '" + one.name + "'";
}

std::string quotedNames(const std::vector<const Node*>& inputs)
{
    std::string out;
    for (const Node* input : inputs)
        out += (out.empty() ? "'" : ", '") + input->name + "'";
    return out;
}

// One input's data and how many of its rows a call takes.
struct InputData
{
    at::Tensor tensor;
    std::int64_t perCall = 1;
    std::int64_t rows = 0; // in the file; the tensor may hold only the first of them
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
    Result<Batch> batch(std::int64_t index) const override
    {
        Batch out;
        for (const auto& input : m_inputs) {
            const std::int64_t begin = index * input.perCall;
            const std::int64_t end = std::min(begin + input.perCall, input.tensor.size(0));
            out.inputs.emplace_back(input.tensor.slice(0, begin, end));
            if (out.inputs.size() == 1)
                out.samples = end - begin;
        }
        if (m_labels.defined() && !m_inputs.empty()) {
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

class CallDataset : public Dataset
{
public:
    explicit CallDataset(std::vector<std::vector<at::IValue>> calls)
        : m_calls(std::move(calls))
    {
    }
    std::int64_t batchCount() const override { return std::int64_t(m_calls.size()); }
    bool hasLabels() const override { return false; }
    Result<Batch> batch(std::int64_t index) const override
    {
        Batch out;
        out.inputs = m_calls[std::size_t(index)];
        const at::IValue& first = out.inputs[0];
        out.samples = first.isTensor() && first.toTensor().dim() > 0 ? first.toTensor().size(0) : 1;
        return out;
    }

private:
    std::vector<std::vector<at::IValue>> m_calls;
};

// Takes the labels out of the tensors.
Result<at::Tensor> takeLabels(std::vector<NamedTensor>& tensors, const Graph& graph)
{
    const auto inputs = graph.inputs();
    const bool isInput = std::any_of(inputs.begin(), inputs.end(),
                                     [](const Node* input) { return input->name == "labels"; });
    const auto found = std::find_if(tensors.begin(), tensors.end(),
                                    [](const NamedTensor& one) { return one.name == "labels"; });
    if (isInput || found == tensors.end())
        return at::Tensor();
    const at::Tensor labels = found->tensor;
    tensors.erase(found);
    if (labels.dim() != 1 || !at::isIntegralType(labels.scalar_type(), false))
        return fail(ErrorCode::BadInput, "array 'labels' must hold one whole number a sample");
    return labels.to(at::kLong);
}

// The tensors in the order of the inputs.
Result<std::vector<NamedTensor>> matchInputs(std::vector<NamedTensor> tensors,
                                             const std::vector<const Node*>& inputs)
{
    if (tensors.size() != inputs.size())
        return fail(ErrorCode::BadInput,
                    "holds " + std::to_string(tensors.size()) + " input arrays, the model takes "
                        + std::to_string(inputs.size()) + " (" + quotedNames(inputs) + ")");
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
    // Some names match, at places where the order says otherwise: neither reading is safe.
    if (misplaced)
        return fail(makeError(ErrorCode::BadInput, "array '" + stray + "' is no input of the model")
                        .withHint("name the arrays " + quotedNames(inputs)));
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
        const at::Tensor& tensor = tensors[i].tensor;
        if (tensor.dim() == 0)
            return fail(ErrorCode::BadInput,
                        what + " is a single number; its first dimension must count samples");
        QS_CHECK(checkInput(tensor, *inputs[i], what, false));
        const auto own = fixedBatch(*inputs[i]);
        const std::int64_t perCall = own ? *own : fixed.value_or(options.batchSize);
        const std::int64_t rows = std::max(tensors[i].rows, tensor.size(0));
        if (perCall <= 0)
            return fail(ErrorCode::BadInput, "the batch size must be 1 or more");
        if (rows < 1)
            return fail(ErrorCode::BadInput, what + " holds no sample");
        if (own && rows < *own)
            return fail(ErrorCode::BadInput,
                        what + " holds " + std::to_string(rows) + " samples, input '"
                            + inputs[i]->name + "' takes " + std::to_string(*own) + " at a time");
        out.push_back({tensor, perCall, rows});
    }
    return out;
}

// Calls that every input has data for. An incomplete tail counts where the batch size is free.
Result<std::int64_t> countCalls(const std::vector<InputData>& inputs,
                                const std::vector<NamedTensor>& tensors, bool fixed)
{
    const auto calls = [&](const InputData& one) {
        return fixed ? one.rows / one.perCall : (one.rows + one.perCall - 1) / one.perCall;
    };
    for (std::size_t i = 1; i < inputs.size(); ++i)
        if (calls(inputs[i]) != calls(inputs[0])
            || (inputs[i].perCall == inputs[0].perCall && inputs[i].rows != inputs[0].rows))
            return fail(ErrorCode::BadInput,
                        nameText(tensors[i], i) + " holds " + std::to_string(inputs[i].rows)
                            + " samples, " + nameText(tensors[0], 0) + " holds "
                            + std::to_string(inputs[0].rows));
    const std::int64_t tail = inputs[0].rows % inputs[0].perCall;
    if (fixed && tail != 0)
        note("the model fixes the batch size to " + std::to_string(inputs[0].perCall)
             + ": the last " + std::to_string(tail) + " of " + std::to_string(inputs[0].rows)
             + " samples are not used");
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
    QS_TRY(std::int64_t calls, countCalls(data, ordered, fixed));
    if (options.batches > 0)
        calls = std::min(calls, options.batches);
    if (labels.defined() && labels.size(0) < std::min(data[0].rows, calls * data[0].perCall))
        return fail(ErrorCode::BadInput,
                    "array 'labels' holds " + std::to_string(labels.size(0)) + " labels for "
                        + std::to_string(data[0].rows) + " samples");
    return std::make_unique<SampleDataset>(data, labels, calls);
}

Result<std::unique_ptr<Dataset>> makeCallDataset(std::vector<std::vector<at::IValue>> calls,
                                                 const Graph& graph, const DatasetOptions& options)
{
    const auto inputs = graph.inputs();
    if (calls.empty() || inputs.empty())
        return fail(ErrorCode::BadInput,
                    calls.empty() ? "holds no call" : "the model takes no input");
    if (options.batches > 0 && std::int64_t(calls.size()) > options.batches)
        calls.resize(std::size_t(options.batches));
    for (std::size_t call = 0; call < calls.size(); ++call) {
        const std::string where = "call " + std::to_string(call);
        if (calls[call].size() != inputs.size())
            return fail(ErrorCode::BadInput,
                        where + " holds " + std::to_string(calls[call].size())
                            + " tensors, the model takes " + std::to_string(inputs.size()) + " ("
                            + quotedNames(inputs) + ")");
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const std::string what = "tensor " + std::to_string(i) + " of " + where;
            const at::IValue& value = calls[call][i];
            if (value.isTensor())
                QS_CHECK(checkInput(value.toTensor(), *inputs[i], what, true));
            else if (inputs[i]->outputs.at(0).type.kind == ValueKind::Tensor)
                return fail(ErrorCode::BadInput, what + " is no tensor");
            else if (value.isDouble() && inputs[i]->outputs[0].type.kind == ValueKind::SymInt)
                return fail(ErrorCode::BadInput,
                            "value " + std::to_string(i) + " of " + where + " is "
                                + std::to_string(value.toDouble()) + ", input '" + inputs[i]->name
                                + "' takes an integer");
        }
    }
    return std::make_unique<CallDataset>(std::move(calls));
}

std::int64_t rowsNeeded(const Graph& graph, const DatasetOptions& options)
{
    if (options.batches <= 0)
        return 0;
    std::int64_t perCall = options.batchSize;
    for (const Node* input : graph.inputs())
        perCall = std::max(perCall, fixedBatch(*input).value_or(0));
    return perCall * options.batches;
}

} // namespace qs
