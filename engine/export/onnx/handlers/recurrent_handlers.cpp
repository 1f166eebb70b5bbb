// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and plain recurrent networks, layer by layer.
#include "engine/export/onnx/onnx_handlers.h"
#include "engine/graph/operators/common_targets.h"

#include <ATen/ATen.h>

#include <array>

namespace qs {

namespace {

struct Kind
{
    const char* op;
    std::int64_t gates;
    /// Index in PyTorch's order of each gate in ONNX's order.
    std::array<std::int64_t, 4> order;
    std::size_t states;
};
constexpr Kind kLstm {"LSTM", 4, {0, 3, 1, 2}, 2};
constexpr Kind kGru {"GRU", 3, {1, 0, 2, 0}, 1};
constexpr Kind kTanh {"RNN", 1, {0, 0, 0, 0}, 1};

class Network
{
public:
    Network(OnnxCall& call, const Kind& kind, OnnxAttributes extra)
        : m_call(call)
        , m_kind(kind)
        , m_extra(std::move(extra))
        , m_layers(m_call.integer("num_layers", 1))
        , m_directions(m_call.flag("bidirectional", false) ? 2 : 1)
        , m_biases(m_call.flag("has_biases", true))
    {
    }

    void run()
    {
        const auto* params = m_call.given("params") ? m_call.given("params")->asList() : nullptr;
        const std::size_t perCell = m_biases ? 4 : 2;
        if (!params || !m_call.has("input")
            || params->size() != std::size_t(m_layers * m_directions) * perCell) {
            m_call.refuse("it is packed, or has projections");
            return;
        }
        if (m_call.rank("input") != 3) {
            m_call.refuse("its input has no batch dimension");
            return;
        }
        const bool batchFirst = m_call.flag("batch_first", false);
        std::string x = m_call.in("input");
        if (batchFirst)
            x = m_call.transpose(x, {1, 0, 2});
        std::vector<std::string> states = initialStates();
        std::vector<std::vector<std::string>> last(m_kind.states);
        for (std::int64_t layer = 0; layer < m_layers && m_call.refusal().empty(); ++layer)
            x = oneLayer(layer, x, *params, states, last);
        if (batchFirst)
            x = m_call.transpose(x, {1, 0, 2});
        const std::string result = x;
        for (std::size_t i = 0; i < last.size(); ++i)
            m_call.give(last[i].size() == 1 ? last[i][0]
                                            : m_call.emit("Concat", last[i], {{"axis", 0}}),
                        i + 1);
        m_call.give(result, 0);
    }

private:
    std::vector<std::string> initialStates()
    {
        if (m_kind.states == 2)
            return m_call.inList("hx");
        return {m_call.in("hx")};
    }

    /// Rows reordered to ONNX's order of gates, with a leading dimension of directions.
    std::string reordered(const Argument& weight)
    {
        std::string value = m_call.value(weight);
        if (m_kind.gates > 1) {
            const auto gates = m_call.emitMany("Split", {value, gateSizes(weight)},
                                               std::size_t(m_kind.gates), {{"axis", 0}});
            std::vector<std::string> ordered;
            for (std::int64_t i = 0; i < m_kind.gates; ++i)
                ordered.push_back(gates[std::size_t(m_kind.order[std::size_t(i)])]);
            value = m_call.emit("Concat", ordered, {{"axis", 0}});
        }
        return m_call.unsqueeze(value, {0});
    }

    std::string gateSizes(const Argument& weight)
    {
        const ValueRef* ref = weight.asRef();
        const ValueType* type = ref ? &m_call.builder().graph().value(*ref).type : nullptr;
        if (!type || !type->shapeKnown || type->shape.empty()) {
            m_call.refuse("the size of its weights is open");
            return {};
        }
        m_hidden = type->shape[0].size / m_kind.gates;
        return m_call.ints(std::vector<std::int64_t>(std::size_t(m_kind.gates), m_hidden));
    }

    std::string joined(const std::vector<std::string>& parts, std::int64_t axis)
    {
        return parts.size() == 1 ? parts[0] : m_call.emit("Concat", parts, {{"axis", axis}});
    }

    std::string oneLayer(std::int64_t layer, const std::string& x, const Argument::List& params,
                         const std::vector<std::string>& states,
                         std::vector<std::vector<std::string>>& last)
    {
        const std::size_t perCell = m_biases ? 4 : 2;
        std::vector<std::string> inner, outer, biases;
        for (std::int64_t direction = 0; direction < m_directions; ++direction) {
            const std::size_t first = std::size_t(layer * m_directions + direction) * perCell;
            inner.push_back(reordered(params[first]));
            outer.push_back(reordered(params[first + 1]));
            if (m_biases)
                biases.push_back(
                    joined({reordered(params[first + 2]), reordered(params[first + 3])}, 1));
        }
        if (const ValueRef* ref = params[std::size_t(layer * m_directions) * perCell + 1].asRef())
            if (const auto& shape = m_call.builder().graph().value(*ref).type.shape;
                shape.size() == 2)
                m_hidden = shape[1].size;
        std::vector<std::string> inputs {x, joined(inner, 0), joined(outer, 0),
                                         m_biases ? joined(biases, 0) : std::string(), ""};
        for (const std::string& state : states)
            inputs.push_back(
                m_call.slice(state, 0, layer * m_directions, (layer + 1) * m_directions));
        OnnxAttributes attributes = m_extra;
        attributes.emplace_back("hidden_size", m_hidden);
        attributes.emplace_back("direction", m_directions == 2 ? "bidirectional" : "forward");
        const auto made = m_call.emitMany(m_kind.op, std::move(inputs), 1 + m_kind.states,
                                          std::move(attributes));
        for (std::size_t i = 0; i < m_kind.states; ++i)
            last[i].push_back(made[i + 1]);
        // [steps, directions, batch, hidden] to [steps, batch, directions * hidden].
        return m_directions == 1
            ? m_call.squeeze(made[0], {1})
            : m_call.reshape(m_call.transpose(made[0], {0, 2, 1, 3}), {0, 0, -1});
    }

    OnnxCall& m_call;
    const Kind& m_kind;
    OnnxAttributes m_extra;
    std::int64_t m_layers, m_directions, m_hidden = 0;
    bool m_biases;
};

void lstm(OnnxCall& c)
{
    Network(c, kLstm, {}).run();
}

/// linear_before_reset: PyTorch adds the recurrent bias before the reset gate is applied.
void gru(OnnxCall& c)
{
    Network(c, kGru, {{"linear_before_reset", 1}}).run();
}

void plain(OnnxCall& c, const char* activation)
{
    const std::size_t directions = c.flag("bidirectional", false) ? 2 : 1;
    Network(c, kTanh, {{"activations", std::vector<std::string>(directions, activation)}}).run();
}

} // namespace

void addRecurrentHandlers(OnnxHandlers& table)
{
    table[std::string(kLstmTarget)] = lstm;
    table[std::string(kGruTarget)] = gru;
    table["aten.rnn_tanh.input"] = [](OnnxCall& c) { plain(c, "Tanh"); };
    table["aten.rnn_relu.input"] = [](OnnxCall& c) { plain(c, "Relu"); };
}

} // namespace qs
