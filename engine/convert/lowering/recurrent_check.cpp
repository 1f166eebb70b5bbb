// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/lowering/recurrent_check.h"

#include "engine/convert/lowering/lowering_ops.h"
#include "engine/execute/steps/dynamic_rounding.h"
#include "engine/execute/value_conversion.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/stack.h>

namespace qs {

namespace {

bool flag(const Node& node, const char* name)
{
    Argument value;
    return effectiveArgument(node, name, value) && value.asBool() && *value.asBool();
}

/// One layer in one direction.
class Direction
{
public:
    Direction(const RecurrentCall& call, std::size_t index)
        : m_weights(call.params.begin() + std::ptrdiff_t(4 * index),
                    call.params.begin() + std::ptrdiff_t(4 * index + 4))
        , m_reduceRange(call.reduceRange)
        , m_hidden(call.states[0].select(0, std::int64_t(index)))
    {
        if (call.states.size() > 1)
            m_cell = call.states[1].select(0, std::int64_t(index));
    }

    at::Tensor run(const at::Tensor& x)
    {
        const at::Tensor inputs
            = at::linear(roundedDynamically(x, m_reduceRange), m_weights[0], m_weights[2]);
        std::vector<at::Tensor> steps;
        for (std::int64_t t = 0; t < x.size(0); ++t) {
            const at::Tensor fed = at::linear(roundedDynamically(m_hidden, m_reduceRange),
                                              m_weights[1], m_weights[3]);
            m_cell.defined() ? stepLstm(inputs.select(0, t) + fed)
                             : stepGru(inputs.select(0, t), fed);
            steps.push_back(m_hidden);
        }
        return at::stack(steps, 0);
    }

    const at::Tensor& hidden() const { return m_hidden; }
    const at::Tensor& cell() const { return m_cell; }

private:
    void stepLstm(const at::Tensor& gates)
    {
        const auto part = gates.chunk(4, 1);
        m_cell = part[1].sigmoid() * m_cell + part[0].sigmoid() * part[2].tanh();
        m_hidden = part[3].sigmoid() * m_cell.tanh();
    }

    void stepGru(const at::Tensor& input, const at::Tensor& fed)
    {
        const auto x = input.chunk(3, 1), h = fed.chunk(3, 1);
        const at::Tensor reset = (x[0] + h[0]).sigmoid();
        const at::Tensor update = (x[1] + h[1]).sigmoid();
        const at::Tensor candidate = (x[2] + reset * h[2]).tanh();
        m_hidden = (m_hidden - candidate) * update + candidate;
    }

    std::vector<at::Tensor> m_weights;
    bool m_reduceRange;
    at::Tensor m_hidden, m_cell;
};

} // namespace

bool quantizesStates(const Graph& lowered, const Node& kernel)
{
    if (!kernel.isOp("aten.quantized_lstm.input") && !kernel.isOp("aten.quantized_gru.input"))
        return false;
    const Argument* params = kernel.tryArg("params");
    const auto* cells = params ? params->asList() : nullptr;
    // Cells in half precision quantize nothing.
    return cells && !cells->empty() && cells->front().asRef()
        && lowered.get(cells->front().asRef()->node).target.find("params_dynamic")
        != std::string::npos;
}

Result<std::vector<at::Tensor>> simulateRecurrence(const Node& reference, const RecurrentCall& call)
{
    Argument layers;
    effectiveArgument(reference, "num_layers", layers);
    const std::size_t directions = flag(reference, "bidirectional") ? 2 : 1;
    const bool batchFirst = flag(reference, "batch_first");
    const std::size_t count = layers.asInt() ? std::size_t(*layers.asInt()) * directions : 0;
    if (count == 0 || call.params.size() != 4 * count || call.states.empty())
        return fail(ErrorCode::Unsupported, "its parameters have another form");
    at::Tensor x = batchFirst ? call.input.transpose(0, 1) : call.input;
    std::vector<at::Tensor> hidden, cells;
    for (std::size_t layer = 0; layer < count; layer += directions) {
        std::vector<at::Tensor> sequences;
        for (std::size_t d = 0; d < directions; ++d) {
            Direction direction(call, layer + d);
            const at::Tensor made = direction.run(d == 1 ? x.flip({0}) : x);
            sequences.push_back(d == 1 ? made.flip({0}) : made);
            hidden.push_back(direction.hidden());
            if (direction.cell().defined())
                cells.push_back(direction.cell());
        }
        x = directions == 1 ? sequences[0] : at::cat(sequences, 2);
    }
    std::vector<at::Tensor> out {batchFirst ? x.transpose(0, 1) : x, at::stack(hidden, 0)};
    if (!cells.empty())
        out.push_back(at::stack(cells, 0));
    return out;
}

} // namespace qs
