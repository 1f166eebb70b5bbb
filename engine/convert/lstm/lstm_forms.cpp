// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/lstm/lstm_forms.h"

#include "engine/base/text.h"
#include "engine/convert/lowering/prepack.h"
#include "engine/convert/quantize_weights.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/prepare/custom_modules/lstm_body.h"
#include "engine/prepare/custom_modules/observe_lstm.h"

namespace qs {

namespace {

/// The parameters of the values inside one LSTM.
class InteriorParams
{
public:
    InteriorParams(const ConvertedModel& model, NodeId lstm)
        : m_model(model)
        , m_observers(interiorObservers(*model.prepared->plan, lstm))
    {
    }

    /// Null for what is not quantized.
    const QParams* tryGet(const std::string& interior) const
    {
        const auto observer = m_observers.find(interior);
        if (observer == m_observers.end())
            return nullptr;
        const auto found = m_model.qparams.find(observer->second);
        return found == m_model.qparams.end() ? nullptr : &found->second;
    }

    ObserverId observer(const std::string& interior) const { return m_observers.at(interior); }
    DType dtype() const
    {
        const QParams* any = m_observers.empty() ? nullptr : tryGet(m_observers.begin()->first);
        return any ? any->dtype : DType::Unknown;
    }

private:
    const ConvertedModel& m_model;
    std::map<std::string, ObserverId> m_observers;
};

/// The fixed parameters with which LibTorch's quantized sigmoid and tanh give their results.
std::optional<QParams> gateParams(const std::string& leaf, DType dtype)
{
    const bool tanh = leaf == "cell_gate" || leaf == "tanh_cy";
    if (!tanh && !leaf.ends_with("_gate"))
        return std::nullopt;
    constexpr float kUnit = 1.F / 256;
    constexpr std::int64_t kMiddle = 128;
    QParams params;
    params.dtype = dtype;
    params.scale = {tanh ? 2 * kUnit : kUnit};
    params.zeroPoint = {(tanh ? kMiddle : 0) - (dtype == DType::QInt8 ? kMiddle : 0)};
    const QuantRange range = storageRange(storageDType(dtype));
    params.quantMin = range.min;
    params.quantMax = range.max;
    return params;
}

class QuantizedLstmArithmetic : public LstmArithmetic
{
public:
    explicit QuantizedLstmArithmetic(const InteriorParams& params)
        : m_params(params)
    {
    }
    std::size_t parametersPerCell() const override { return 2; }
    DType dtype() const override { return m_params.dtype(); }

    ValueRef linear(GraphEdit& edit, LstmStep step, ValueRef x, std::size_t side,
                    std::span<const ValueRef> parameters) override
    {
        const QParams& out = *m_params.tryGet(step.interior);
        step.node.target = "quantized.linear.default";
        step.node.args = {{"X", x},
                          {"W_prepack", parameters[side]},
                          {"Y_scale_i", double(out.scale.at(0))},
                          {"Y_zero_point_i", out.zeroPoint.at(0)}};
        return {edit.insert(std::move(step.node)), 0};
    }

    ValueRef binary(GraphEdit& edit, LstmStep step, const char* op, ValueRef a, ValueRef b) override
    {
        const QParams& out = *m_params.tryGet(step.interior);
        step.node.target = std::string("quantized.") + op + ".default";
        step.node.args = {{"qa", a},
                          {"qb", b},
                          {"scale", double(out.scale.at(0))},
                          {"zero_point", out.zeroPoint.at(0)}};
        return {edit.insert(std::move(step.node)), 0};
    }

    ValueRef gate(GraphEdit& edit, LstmStep step, const char* op, ValueRef x) override
    {
        step.node.target = std::string("aten.") + op + ".default";
        step.node.args = {{"self", x}};
        return {edit.insert(std::move(step.node)), 0};
    }

    ValueRef aligned(GraphEdit& edit, ValueRef value, const std::string& interior) override
    {
        const QParams& wanted = *m_params.tryGet(interior);
        Node node = edit.get(value.node);
        const Value like = node.outputs.at(value.index);
        node.subgraphs.clear();
        node.id = {};
        node.name = "dequantize";
        node.target = "aten.dequantize.self";
        node.args = {{"self", value}};
        node.outputs = {{"", like.type}};
        node.outputs[0].type.dtype = DType::Float32;
        const ValueRef real {edit.insert(node), 0};
        node.name = "quantize_per_tensor";
        node.target = "aten.quantize_per_tensor.default";
        node.args = {{"self", real},
                     {"scale", double(wanted.scale.at(0))},
                     {"zero_point", wanted.zeroPoint.at(0)},
                     {"dtype", wanted.dtype}};
        node.outputs = {{"", like.type}};
        return {edit.insert(std::move(node)), 0};
    }

private:
    const InteriorParams& m_params;
};

template<class Visit>
void forEachCustomGroup(const ConvertedModel& model, Visit&& visit)
{
    for (const MatchGroup& group : model.prepared->plan->groups)
        if (group.customModule && group.quantized)
            visit(model.prepared->model->get(group.root));
}

std::shared_ptr<const Graph> referenceBody(const ConvertedModel& model, const Node& lstm,
                                           bool probed)
{
    const InteriorParams params(model, lstm.id);
    FloatLstmArithmetic arithmetic(
        readLstm(lstm)->hasBiases,
        [&](GraphEdit& body, ValueRef value, const std::string& interior, bool again) {
            const QParams* own = params.tryGet(interior);
            const auto fixed = own ? std::nullopt : gateParams(lastPart(interior), params.dtype());
            if (!own && !fixed)
                return value;
            // Per tensor nothing can fail: no constant is made.
            const ValueRef sealed
                = insertQdqPair(body, value, own ? *own : *fixed, {}, lstm.id).value_or(value);
            const bool shown = probed && own && !again;
            return shown ? insertObserver(body, sealed, params.observer(interior)) : sealed;
        });
    return buildLstmBody(*model.prepared->model, lstm, arithmetic);
}

} // namespace

void quantizeLstmBodies(GraphEdit& edit, const ConvertedModel& model)
{
    forEachCustomGroup(model, [&](const Node& lstm) {
        edit.change(lstm.id).subgraphs = {referenceBody(model, lstm, false)};
    });
}

std::unordered_map<NodeId, GraphPtr> probedLstmBodies(const ConvertedModel& model)
{
    std::unordered_map<NodeId, GraphPtr> bodies;
    forEachCustomGroup(
        model, [&](const Node& lstm) { bodies[lstm.id] = referenceBody(model, lstm, true); });
    return bodies;
}

std::unordered_map<NodeId, GraphPtr> quantizedLstmBodies(const ConvertedModel& model)
{
    std::unordered_map<NodeId, GraphPtr> bodies;
    forEachCustomGroup(model, [&](const Node& lstm) {
        const InteriorParams params(model, lstm.id);
        QuantizedLstmArithmetic arithmetic(params);
        bodies[lstm.id] = buildLstmBody(*model.prepared->model, lstm, arithmetic);
    });
    return bodies;
}

namespace {

Result<Argument> quantizedInput(const GraphEdit& edit, const Argument& argument, const char* name)
{
    const ValueRef* ref = argument.asRef();
    const Node* producer = ref ? &edit.get(ref->node) : nullptr;
    if (!producer || !producer->isOp("aten.dequantize.self"))
        return fail(ErrorCode::Unsupported, std::string("its ") + name + " is not quantized");
    return Argument(argumentRef(*producer, "self"));
}

Result<Argument::List> packedCells(GraphEdit& edit, const Node& lstm, std::size_t perCell)
{
    Argument::List packed;
    const Argument::List& params = *lstm.args.at(2).value.asList();
    for (std::size_t i = 0; i < params.size(); i += perCell)
        for (const std::size_t side : {0, 1}) {
            QS_TRY(const ValueRef weight, quantizedWeight(edit, *params[i + side].asRef()));
            const Argument bias = perCell == 4 ? params[i + 2 + side] : Argument();
            QS_TRY(const ValueRef made,
                   insertPackingCall(edit, lstm, "quantized::linear_prepack",
                                     {{"W", weight}, {"B", bias}}, lstm.id, lstm.id));
            packed.emplace_back(made);
        }
    return packed;
}

} // namespace

Result<NodeId> emitQuantizedLstm(GraphEdit& edit, NodeId id, const GraphPtr& body)
{
    const Node lstm = edit.get(id);
    const std::size_t cells = (body->inputs().size() - 3) / 2;
    const Argument::List& states = *lstm.args.at(1).value.asList();
    Node node;
    QS_TRY(Argument input, quantizedInput(edit, lstm.args.at(0).value, "input"));
    QS_TRY(Argument hidden, quantizedInput(edit, states.at(0), "initial hidden state"));
    QS_TRY(Argument cell, quantizedInput(edit, states.at(1), "initial cell state"));
    QS_TRY(Argument::List packed,
           packedCells(edit, lstm, lstm.args.at(2).value.asList()->size() / cells));
    node.name = lstm.name;
    node.target = std::string(kLstmTarget);
    node.args = {{"input", std::move(input)},
                 {"hx", Argument::List {std::move(hidden), std::move(cell)}},
                 {"params", std::move(packed)}};
    const auto& made = body->output().args;
    for (std::size_t i = 0; i < lstm.outputs.size(); ++i) {
        node.outputs.push_back({"", lstm.outputs[i].type});
        node.outputs.back().type.dtype = body->value(*made.at(i).value.asRef()).type.dtype;
    }
    node.subgraphs = {body};
    return insertCall(edit, lstm, id, id, std::move(node));
}

} // namespace qs
