// SPDX-License-Identifier: Apache-2.0
#include "engine/custom_modules/lstm/lstm_module.h"

#include "engine/custom_modules/lstm/lstm_body.h"
#include "engine/custom_modules/lstm/lstm_check.h"
#include "engine/custom_modules/lstm/lstm_op.h"
#include "engine/custom_modules/lstm/quantized_arithmetic.h"
#include "engine/graph/operators/engine_ops.h"

#include <ATen/core/ivalue.h>

namespace qs {

namespace {

/// Returns the inner values that are returned as sequence, hidden and cell states.
std::vector<std::string> leaving(const LstmOp& op)
{
    const std::size_t lastLayer = (op.layers - 1) * op.directions;
    return {lstmInterior(op, lastLayer, "ogate_cy"), lstmInterior(op, 0, "ogate_cy"),
            lstmInterior(op, 0, "fgate_cx_igate_cgate")};
}

/// Packs two linears per cell, in the order of the body's inputs.
Result<Argument::List> packCells(ModuleDraft& draft, const LstmOp& op)
{
    Argument::List packed;
    const Argument::List& params = *draft.module().args.at(2).value.asList();
    for (std::size_t i = 0; i < params.size(); i += op.parametersPerCell())
        for (const std::size_t side : {0, 1}) {
            QS_TRY(const ValueRef weight, draft.quantizedWeight(*params[i + side].asRef()));
            const Argument bias = op.hasBiases ? params[i + 2 + side] : Argument();
            QS_TRY(const ValueRef made,
                   draft.pack("quantized::linear_prepack", {{"W", weight}, {"B", bias}}));
            packed.emplace_back(made);
        }
    return packed;
}

class LstmModule : public CustomModule
{
public:
    std::string floatClass() const override { return "torch.nn.LSTM"; }
    std::string observedClass() const override { return "torch.ao.nn.quantizable.LSTM"; }
    std::string quantizedClass(QuantizationMode) const override
    {
        return "torch.ao.nn.quantized.LSTM";
    }
    bool takes(QuantizationMode mode) const override { return mode == QuantizationMode::Static; }
    bool isGathered() const override { return false; }
    bool isWhole(const Node& node) const override { return node.target.starts_with("aten.lstm."); }

    std::optional<Refusal> whyNot(const Node& node, QuantizationMode) const override
    {
        const std::string why = whyNoStaticLstm(node);
        if (why.empty())
            return std::nullopt;
        return Refusal {"a static qconfig quantizes the whole LSTM, but this one " + why,
                        "quantize it dynamically: give it qconfig 'default_dynamic'"};
    }
    std::string note(const Graph& graph, const Node& node) const override
    {
        return startsFromZeros(graph, node)
            ? "called without initial states: they are zeros, and observed like any other"
            : "";
    }

    std::vector<ValueRef> carried(const Node&) const override { return {}; }
    std::vector<ValueRef> weights(const Graph& graph, const Node& node) const override
    {
        std::vector<ValueRef> found;
        forEachRef(node.args.at(2).value, [&](ValueRef ref) {
            if (graph.value(ref).type.shape.size() == 2) // biases are vectors
                found.push_back(ref);
        });
        return found;
    }
    std::vector<std::string> interiors(const Node& node) const override
    {
        const LstmOp op = *readLstm(node);
        std::vector<std::string> names;
        for (std::size_t cell = 0; cell < op.cells(); ++cell)
            for (const std::string_view value : kLstmCellValues)
                names.push_back(lstmInterior(op, cell, value));
        return names;
    }
    std::vector<std::string> outputs(const Node& node) const override
    {
        return leaving(*readLstm(node));
    }

    std::vector<NamedArgument> arguments(const Node& node) const override
    {
        static constexpr const char* kNames[] {"input", "hx", "params"};
        std::vector<NamedArgument> args = node.args;
        args.resize(std::size(kNames));
        for (std::size_t i = 0; i < args.size(); ++i)
            args[i].name = kNames[i];
        return args;
    }
    GraphPtr floatBody(const Graph& graph, const Node& node, const Seal& seal) const override
    {
        FloatLstmArithmetic arithmetic(readLstm(node)->hasBiases, seal);
        return buildLstmBody(graph, node, arithmetic);
    }
    std::optional<InteriorGrid> fixedGrid(const std::string& interior, DType dtype) const override
    {
        return lstmGateGrid(interior, dtype);
    }

    Result<NodeId> lower(ModuleDraft& draft, const Graph& graph, const Node& node, QuantizationMode,
                         const GridOf& gridOf) const override
    {
        const LstmOp op = *readLstm(node);
        const auto any = gridOf(lstmInterior(op, 0, "ogate_cy"));
        QuantizedLstmArithmetic arithmetic(gridOf, any ? any->dtype : DType::Unknown);
        const GraphPtr body = buildLstmBody(graph, node, arithmetic);
        const Node& module = draft.module();
        const Argument::List& states = *module.args.at(1).value.asList();
        QS_TRY(Argument input, draft.quantized(module.args.at(0).value, "input"));
        QS_TRY(Argument hidden, draft.quantized(states.at(0), "initial hidden state"));
        QS_TRY(Argument cell, draft.quantized(states.at(1), "initial cell state"));
        QS_TRY(Argument::List packed, packCells(draft, op));
        Node made;
        made.name = module.name;
        made.target = std::string(kModuleTarget);
        made.args = {{"input", std::move(input)},
                     {"hx", Argument::List {std::move(hidden), std::move(cell)}},
                     {"params", std::move(packed)}};
        const auto& returned = body->output().args;
        for (std::size_t i = 0; i < module.outputs.size(); ++i) {
            made.outputs.push_back({"", module.outputs[i].type});
            made.outputs.back().type.dtype = body->value(*returned.at(i).value.asRef()).type.dtype;
        }
        made.subgraphs = {body};
        return draft.call(std::move(made));
    }

    Result<double> difference(const ModuleRun& run) const override
    {
        return compareLstmKernels(run.reference, run.inputs, run.lowered, run.operands);
    }
};

} // namespace

CustomModulePtr makeLstmModule()
{
    return std::make_shared<const LstmModule>();
}

} // namespace qs
