// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/data/call_dataset.h"

#include "engine/base/log.h"
#include "engine/base/text.h"
#include "engine/calibrate/data/dimension_rules.h"
#include "engine/calibrate/data/input_data.h"
#include "engine/execute/torch_types.h"

#include <ATen/ATen.h>

namespace qs {

namespace {

std::string callText(std::size_t position, std::size_t call)
{
    return "tensor " + std::to_string(position) + " of call " + std::to_string(call);
}

class CallDataset : public Dataset
{
public:
    CallDataset(std::vector<std::vector<CallValue>> calls, std::vector<Node> inputs,
                std::string file)
        : m_calls(std::move(calls))
        , m_inputs(std::move(inputs))
        , m_file(std::move(file))
    {
    }
    std::int64_t batchCount() const override { return std::int64_t(m_calls.size()); }
    bool hasLabels() const override { return false; }
    Result<Batch> batch(std::int64_t index) const override
    {
        Batch out;
        const auto& call = m_calls[std::size_t(index)];
        for (std::size_t i = 0; i < call.size(); ++i) {
            const std::string what = callText(i, std::size_t(index));
            if (const auto* value = std::get_if<at::IValue>(&call[i])) {
                if (value->isTensor())
                    QS_CHECK(addInput(out, value->toTensor(), m_inputs[i], what, 0, m_file));
                else
                    out.inputs.push_back(*value);
                continue;
            }
            const auto& stored = std::get<StoredTensor>(call[i]);
            auto tensor = readWhole(stored);
            if (!tensor)
                return fail(namedError(std::move(tensor).error(), what));
            QS_CHECK(addInput(out, *tensor, m_inputs[i], what, 0, stored.archive->path()));
        }
        const at::IValue& first = out.inputs[0];
        out.samples = first.isTensor() && first.toTensor().dim() > 0 ? first.toTensor().size(0) : 1;
        return out;
    }

private:
    std::vector<std::vector<CallValue>> m_calls;
    std::vector<Node> m_inputs;
    std::string m_file; ///< for values in memory: the model's file
};

// Returns a call's value without elements, for checks of shapes.
at::IValue shapeOf(const CallValue& value)
{
    if (const auto* stored = std::get_if<StoredTensor>(&value))
        return outline(stored->layout.sizes);
    return std::get<at::IValue>(value);
}

// Prepares a tensor in memory immediately.
Result<void> checkCallValue(CallValue& value, const Node& input, std::size_t position,
                            std::size_t call)
{
    const std::string what = callText(position, call);
    if (const auto* stored = std::get_if<StoredTensor>(&value))
        return checkForm(formOf(*stored), input, what, true);
    at::IValue& given = std::get<at::IValue>(value);
    const ValueKind wanted = input.outputs.at(0).type.kind;
    if (given.isTensor()) {
        const at::Tensor tensor = given.toTensor();
        QS_CHECK(checkForm({fromScalarType(tensor.scalar_type()), tensor.sizes().vec()}, input,
                           what, true));
        QS_TRY(ReadyInput ready, readyInput(tensor, input, what, 0));
        given = std::move(ready.tensor);
    } else if (wanted == ValueKind::Tensor) {
        return fail(ErrorCode::BadInput, what + " is not a tensor");
    } else if (given.isDouble() && wanted == ValueKind::SymInt) {
        return fail(ErrorCode::BadInput,
                    "value " + std::to_string(position) + " of call " + std::to_string(call)
                        + " is " + std::to_string(given.toDouble()) + ", input '" + input.name
                        + "' takes an integer");
    }
    return {};
}

} // namespace

Result<std::unique_ptr<Dataset>> makeCallDataset(std::vector<std::vector<CallValue>> calls,
                                                 const Graph& graph, const DatasetOptions& options)
{
    const auto inputs = graph.inputs();
    if (calls.empty() || inputs.empty())
        return fail(ErrorCode::BadInput,
                    calls.empty() ? "holds no call" : "the model takes no input");
    if (options.batches > 0 && std::int64_t(calls.size()) > options.batches) {
        note("of " + counted(calls.size(), "call") + " the first " + std::to_string(options.batches)
             + " are used" + kTakeAll);
        calls.resize(std::size_t(options.batches));
    }
    const DimensionRules rules(graph);
    for (std::size_t call = 0; call < calls.size(); ++call) {
        if (calls[call].size() != inputs.size())
            return fail(ErrorCode::BadInput,
                        "call " + std::to_string(call) + " holds "
                            + counted(calls[call].size(), "tensor") + ", the model takes "
                            + std::to_string(inputs.size()) + " (" + inputNames(inputs) + ")");
        std::vector<at::IValue> shapes;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            QS_CHECK(checkCallValue(calls[call][i], *inputs[i], i, call));
            if (call == 0)
                if (const auto* stored = std::get_if<StoredTensor>(&calls[call][i]))
                    noteTypeChange(stored->layout.dtype, *inputs[i], callText(i, call));
            shapes.push_back(shapeOf(calls[call][i]));
        }
        QS_CHECK(rules.check(shapes, "batch " + std::to_string(call + 1)));
    }
    std::vector<Node> nodes;
    for (const Node* input : inputs)
        nodes.push_back(*input);
    return std::make_unique<CallDataset>(std::move(calls), std::move(nodes), graph.info().path);
}

} // namespace qs
