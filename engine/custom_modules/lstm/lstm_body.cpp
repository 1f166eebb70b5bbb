// SPDX-License-Identifier: Apache-2.0
#include "engine/custom_modules/lstm/lstm_body.h"

#include "engine/base/text.h"
#include "engine/execute/control/recurrence.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/graph/operators/operator_name.h"

namespace qs {

namespace {

std::string leafOf(const std::string& interior)
{
    return lastPart(interior);
}

/// Builds the nodes of one body and of its cells.
class LstmBodyWriter
{
public:
    LstmBodyWriter(const Graph& graph, const Node& lstm, LstmArithmetic& arithmetic)
        : m_lstm(lstm)
        , m_op(*readLstm(lstm))
        , m_arithmetic(arithmetic)
    {
        m_edit.setTensors(graph.tensors());
        m_edit.setInfo(graph.info());
        const ValueType& x = graph.value(m_op.input).type;
        const ValueType& h = graph.value(m_op.hidden).type;
        forEachRef(lstm.args.at(2).value,
                   [&](ValueRef ref) { m_parameterTypes.push_back(graph.value(ref).type); });
        m_known = x.shapeKnown && x.shape.size() == 3 && h.shapeKnown && h.shape.size() == 3;
        if (!m_known)
            return;
        m_steps = x.shape[m_op.batchFirst ? 1 : 0];
        m_batch = x.shape[m_op.batchFirst ? 0 : 1];
        m_features = x.shape[2];
        m_hidden = h.shape[2];
        m_states = h.shape[0];
    }

    std::shared_ptr<const Graph> write()
    {
        ValueRef x = input("input",
                           m_op.batchFirst ? type({m_batch, m_steps, m_features})
                                           : type({m_steps, m_batch, m_features}));
        const ValueRef hidden = input("hidden", type({m_states, m_batch, m_hidden}));
        const ValueRef cellState = input("cell", type({m_states, m_batch, m_hidden}));
        std::vector<ValueRef> parameters;
        const std::size_t each = m_arithmetic.parametersPerCell();
        for (std::size_t i = 0; i < each * m_op.cells(); ++i)
            parameters.push_back(parameter(i / each, i % each));
        if (m_op.batchFirst)
            x = transposed(x, type({m_steps, m_batch, m_features}));
        std::vector<ValueRef> lastHidden, lastCell;
        Dim features = m_features;
        for (std::size_t layer = 0; layer < m_op.layers; ++layer) {
            std::vector<Cell> cells;
            for (std::size_t d = 0; d < m_op.directions; ++d) {
                const std::size_t index = layer * m_op.directions + d;
                cells.push_back(direction(
                    x, {select(hidden, index, "hidden"), select(cellState, index, "cell")}, index,
                    std::span(parameters).subspan(index * each, each), features));
            }
            x = joinSequences(cells, layer);
            features = width();
            lastHidden.push_back(joinStates(cells, layer, &Cell::hidden, "ogate_cy"));
            lastCell.push_back(joinStates(cells, layer, &Cell::cell, "fgate_cx_igate_cgate"));
        }
        if (m_op.batchFirst)
            x = transposed(x, type({m_batch, m_steps, width()}));
        Node output;
        output.kind = NodeKind::Output;
        output.name = "output";
        output.args = {{"", x},
                       {"", stackLayers(lastHidden, "ogate_cy")},
                       {"", stackLayers(lastCell, "fgate_cx_igate_cgate")}};
        m_edit.insert(std::move(output));
        return std::make_shared<const Graph>(m_edit.build());
    }

private:
    /// The results of one layer in one direction.
    struct Cell
    {
        ValueRef sequence, hidden, cell;
    };

    ValueType type(std::vector<Dim> shape) const
    {
        ValueType made;
        made.dtype = m_arithmetic.dtype();
        made.shapeKnown = m_known;
        if (m_known)
            made.shape = std::move(shape);
        return made;
    }

    Dim width() const
    {
        Dim wide = m_hidden;
        if (m_op.directions == 2)
            wide = Dim::fixed(2 * m_hidden.size);
        return wide;
    }

    Node step(const std::string& interior, ValueType type) const
    {
        Node node;
        node.name = leafOf(interior);
        node.scope = m_lstm.scope;
        node.source = m_lstm.source;
        node.origin = m_lstm.id;
        const auto dot = interior.rfind('.');
        if (dot != std::string::npos) {
            node.scope.path += (node.scope.path.empty() ? "" : ".") + interior.substr(0, dot);
            node.scope.moduleClass = "torch.ao.nn.quantizable.LSTMCell";
        }
        node.outputs.push_back({"", std::move(type)});
        return node;
    }

    static ValueRef place(GraphEdit& edit, Node node, std::string_view target,
                          std::vector<NamedArgument> args)
    {
        node.target = target;
        node.args = std::move(args);
        return {edit.insert(std::move(node)), 0};
    }

    ValueRef input(const std::string& name, ValueType type)
    {
        return addInput(m_edit, name, std::move(type));
    }
    static ValueRef addInput(GraphEdit& edit, const std::string& name, ValueType type)
    {
        Node node;
        node.kind = NodeKind::Input;
        node.name = node.target = name;
        node.outputs.push_back({"", std::move(type)});
        return {edit.insert(std::move(node)), 0};
    }

    /// Returns the type of a parameter; packed parameters are objects.
    ValueType parameterType(std::size_t cell, std::size_t index) const
    {
        if (m_arithmetic.dtype() == DType::Float32)
            return m_parameterTypes.at(cell * m_op.parametersPerCell() + index);
        ValueType made;
        made.kind = ValueKind::Custom;
        made.className = "LinearPackedParamsBase";
        return made;
    }

    ValueRef parameter(std::size_t cell, std::size_t index)
    {
        static constexpr const char* kNames[] {"weight_ih", "weight_hh", "bias_ih", "bias_hh"};
        std::string name
            = std::string(kNames[index]) + "_l" + std::to_string(cell / m_op.directions);
        if (cell % m_op.directions == 1)
            name += "_reverse";
        return input(name, parameterType(cell, index));
    }

    /// Adds a node to the body, named after its operator.
    ValueRef call(std::string_view target, ValueType type, std::vector<NamedArgument> args)
    {
        return place(m_edit, step(std::string(operatorParts(target).word), std::move(type)), target,
                     std::move(args));
    }

    ValueRef transposed(ValueRef x, ValueType type)
    {
        return call(kTransposeTarget, std::move(type), {{"self", x}, {"dim0", 0}, {"dim1", 1}});
    }

    ValueRef select(ValueRef states, std::size_t index, const char* name)
    {
        return place(m_edit, step(name, type({m_batch, m_hidden})), kSelectTarget,
                     {{"self", states}, {"dim", 0}, {"index", std::int64_t(index)}});
    }

    ValueRef flipped(ValueRef x, ValueType type)
    {
        return call("aten.flip.default", std::move(type),
                    {{"self", x}, {"dims", Argument::List {0}}});
    }

    Cell direction(ValueRef x, std::pair<ValueRef, ValueRef> states, std::size_t cell,
                   std::span<const ValueRef> parameters, const Dim& features)
    {
        const bool backward = cell % m_op.directions == 1;
        if (backward)
            x = flipped(x, type({m_steps, m_batch, features}));
        Node node = step(lstmInterior(m_op, cell, "cell"), type({m_steps, m_batch, m_hidden}));
        for (const char* name : {"hidden", "cell"})
            node.outputs.push_back({node.name + "_last_" + name, type({m_batch, m_hidden})});
        node.outputs[0].name = node.name;
        node.subgraphs.push_back(cellGraph(cell, parameters, features));
        Argument::List extra;
        for (const ValueRef parameter : parameters)
            extra.emplace_back(parameter);
        const ValueRef made = place(m_edit, std::move(node), kRecurTarget,
                                    {{"sequence", x},
                                     {"states", Argument::List {states.first, states.second}},
                                     {"extra", std::move(extra)}});
        Cell out {made, {made.node, 1}, {made.node, 2}};
        if (backward)
            out.sequence = flipped(out.sequence, type({m_steps, m_batch, m_hidden}));
        return out;
    }

    std::shared_ptr<const Graph> cellGraph(std::size_t cell, std::span<const ValueRef> parameters,
                                           const Dim& features)
    {
        GraphEdit edit;
        edit.setTensors(m_edit.tensors());
        const ValueRef x = addInput(edit, "x", type({m_batch, features}));
        const ValueRef hx = addInput(edit, "hx", type({m_batch, m_hidden}));
        const ValueRef cx = addInput(edit, "cx", type({m_batch, m_hidden}));
        std::vector<ValueRef> own;
        for (const ValueRef parameter : parameters) {
            const Node& outer = m_edit.get(parameter.node);
            own.push_back(addInput(edit, outer.name, outer.outputs[0].type));
        }
        const auto node = [&](const char* name, bool wide = false) {
            Dim size = m_hidden;
            if (wide)
                size = Dim::fixed(4 * m_hidden.size);
            const std::string interior = lstmInterior(m_op, cell, name);
            return LstmStep {step(interior, type({m_batch, size})), interior};
        };
        const ValueRef igates = m_arithmetic.linear(edit, node("igates", true), x, 0, own);
        const ValueRef hgates = m_arithmetic.linear(edit, node("hgates", true), hx, 1, own);
        constexpr const char *add = "add", *mul = "mul", *sigmoid = "sigmoid", *tanh = "tanh";
        const ValueRef gates = m_arithmetic.binary(edit, node("gates", true), add, igates, hgates);
        Node chunk = node("chunk").node;
        chunk.outputs.resize(4, chunk.outputs[0]);
        for (std::size_t i = 0; i < 4; ++i)
            chunk.outputs[i].name = "chunk_" + std::to_string(i);
        const NodeId parts = place(edit, std::move(chunk), kChunkTarget,
                                   {{"self", gates}, {"chunks", 4}, {"dim", 1}})
                                 .node;
        const auto gate = [&](const char* name, const char* op, std::uint32_t part) {
            return m_arithmetic.gate(edit, node(name), op, {parts, part});
        };
        const ValueRef in = gate("input_gate", sigmoid, 0);
        const ValueRef forget = gate("forget_gate", sigmoid, 1);
        const ValueRef candidate = gate("cell_gate", tanh, 2);
        const ValueRef out = gate("output_gate", sigmoid, 3);
        const ValueRef kept = m_arithmetic.binary(edit, node("fgate_cx"), mul, forget, cx);
        const ValueRef added = m_arithmetic.binary(edit, node("igate_cgate"), mul, in, candidate);
        const ValueRef cy
            = m_arithmetic.binary(edit, node("fgate_cx_igate_cgate"), add, kept, added);
        const ValueRef bounded = m_arithmetic.gate(edit, node("tanh_cy"), tanh, cy);
        const ValueRef hy = m_arithmetic.binary(edit, node("ogate_cy"), mul, out, bounded);
        Node output;
        output.kind = NodeKind::Output;
        output.name = "output";
        output.args = {{"", hy}, {"", cy}};
        edit.insert(std::move(output));
        return std::make_shared<const Graph>(edit.build());
    }

    /// Adds `aten.cat` or `aten.stack` of values, with the parameters of the first.
    ValueRef join(std::vector<ValueRef> parts, const std::string& first, std::string_view target,
                  std::int64_t dim, ValueType type)
    {
        Argument::List list;
        for (std::size_t i = 0; i < parts.size(); ++i)
            list.emplace_back(i == 0 ? parts[i] : m_arithmetic.aligned(m_edit, parts[i], first));
        return call(target, std::move(type), {{"tensors", std::move(list)}, {"dim", dim}});
    }

    ValueRef joinSequences(const std::vector<Cell>& cells, std::size_t layer)
    {
        if (cells.size() == 1)
            return cells.front().sequence;
        return join({cells[0].sequence, cells[1].sequence},
                    lstmInterior(m_op, layer * m_op.directions, "ogate_cy"), kCatTarget, 2,
                    type({m_steps, m_batch, width()}));
    }

    ValueRef joinStates(const std::vector<Cell>& cells, std::size_t layer, ValueRef Cell::*state,
                        const char* value)
    {
        if (cells.size() == 1)
            return cells.front().*state;
        return join({cells[0].*state, cells[1].*state},
                    lstmInterior(m_op, layer * m_op.directions, value), kStackTarget, 0,
                    type({Dim::fixed(2), m_batch, m_hidden}));
    }

    /// Stacks all layers' states as `aten.lstm.input` returns them: [layers * directions, batch,
    /// hidden].
    ValueRef stackLayers(const std::vector<ValueRef>& states, const char* value)
    {
        std::vector<Dim> shape {Dim::fixed(std::int64_t(m_op.layers)), m_batch, m_hidden};
        if (m_op.directions == 2)
            shape.insert(shape.begin() + 1, Dim::fixed(2));
        const ValueRef all
            = join(states, lstmInterior(m_op, 0, value), kStackTarget, 0, type(std::move(shape)));
        if (m_op.directions == 1)
            return all;
        return call("aten.flatten.using_ints", type({m_states, m_batch, m_hidden}),
                    {{"self", all}, {"start_dim", 0}, {"end_dim", 1}});
    }

    const Node& m_lstm;
    const LstmOp m_op;
    LstmArithmetic& m_arithmetic;
    GraphEdit m_edit;
    std::vector<ValueType> m_parameterTypes;
    bool m_known = false;
    Dim m_steps, m_batch, m_features, m_hidden, m_states;
};

ValueRef insertNode(GraphEdit& edit, Node node, std::string_view target,
                    std::vector<NamedArgument> args)
{
    node.target = target;
    node.args = std::move(args);
    return {edit.insert(std::move(node)), 0};
}

} // namespace

ValueRef FloatLstmArithmetic::linear(GraphEdit& edit, LstmStep step, ValueRef x, std::size_t side,
                                     std::span<const ValueRef> parameters)
{
    std::vector<NamedArgument> args {{"input", x}, {"weight", parameters[side]}};
    if (m_hasBiases)
        args.push_back({"bias", parameters[2 + side]});
    return m_seal(edit, insertNode(edit, std::move(step.node), kLinearTarget, std::move(args)),
                  step.interior, false);
}

ValueRef FloatLstmArithmetic::binary(GraphEdit& edit, LstmStep step, const char* op, ValueRef a,
                                     ValueRef b)
{
    return m_seal(edit,
                  insertNode(edit, std::move(step.node), std::string("aten.") + op + ".Tensor",
                             {{"self", a}, {"other", b}}),
                  step.interior, false);
}

ValueRef FloatLstmArithmetic::gate(GraphEdit& edit, LstmStep step, const char* op, ValueRef x)
{
    return m_seal(edit,
                  insertNode(edit, std::move(step.node), std::string("aten.") + op + ".default",
                             {{"self", x}}),
                  step.interior, false);
}

ValueRef FloatLstmArithmetic::aligned(GraphEdit& edit, ValueRef value, const std::string& interior)
{
    return m_seal(edit, value, interior, true);
}

std::shared_ptr<const Graph> buildLstmBody(const Graph& graph, const Node& node,
                                           LstmArithmetic& arithmetic)
{
    return LstmBodyWriter(graph, node, arithmetic).write();
}

} // namespace qs
