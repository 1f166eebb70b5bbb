// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/lowering/emit/float_kernel.h"

#include "engine/convert/lowering/emit/prepack.h"
#include "engine/convert/lowering/lowering_ops.h"
#include "engine/convert/quantize_weights.h"
#include "engine/execute/op_table.h"
#include "engine/execute/value_conversion.h"
#include "engine/graph/operators/operator_name.h"
#include "engine/graph/operators/quantized_target.h"

#include <map>

namespace qs {

namespace {

bool isClass(const c10::TypePtr& type)
{
    return type->kind() == c10::TypeKind::ClassType;
}

bool isClassList(const c10::TypePtr& type)
{
    const auto list = type->cast<c10::ListType>();
    return list && isClass(list->getElementType());
}

/// The float operator's name of a kernel's argument.
std::string cellArgument(const std::string& kernelName)
{
    static const std::map<std::string, std::string> kOther {{"bias_ih", "b_ih"},
                                                            {"bias_hh", "b_hh"}};
    const auto it = kOther.find(kernelName);
    return it == kOther.end() ? kernelName : it->second;
}

class FloatKernelEmitter
{
public:
    FloatKernelEmitter(GraphEdit& edit, const FloatKernelMatch& match)
        : m_edit(edit)
        , m_match(match)
        , m_root(edit.get(match.chain.front()))
        , m_half(match.row.mode == KernelMode::DynamicHalf)
    {
    }

    Result<NodeId> emit()
    {
        const auto handle = findKernel(m_match.row.kernel);
        if (!handle)
            return fail(ErrorCode::Unsupported, "LibTorch has no operator " + m_match.row.kernel);
        QS_CHECK(checkOperator());
        Node node;
        for (const auto& argument : handle->schema().arguments()) {
            Argument value;
            QS_TRY(const bool given, bind(argument, value));
            if (given)
                node.args.push_back({argument.name(), std::move(value)});
        }
        node.target = targetOf(handle->operator_name());
        node.name = operatorParts(node.target).word;
        const Node& last = m_edit.get(m_match.chain.back());
        const std::size_t returned = handle->schema().returns().size();
        for (std::size_t i = 0; i < std::min(returned, last.outputs.size()); ++i)
            node.outputs.push_back({"", last.outputs[i].type});
        return insertCall(m_edit, m_root, last.id, m_match.origin, std::move(node));
    }

private:
    /// Fails if the operator uses a feature that the kernels lack.
    Result<void> checkOperator() const
    {
        Argument value;
        if (effectiveArgument(m_root, "mode", value)) { // of embedding_bag
            if (!value.asInt() || *value.asInt() != 0)
                return fail(ErrorCode::Unsupported, "the kernel only knows mode \"sum\"");
            if (effectiveArgument(m_root, "padding_idx", value) && value.asInt()
                && *value.asInt() >= 0)
                return fail(ErrorCode::Unsupported, "the kernel does not leave out padding_idx");
        }
        if (effectiveArgument(m_root, "has_biases", value) && value.asBool() && !*value.asBool())
            return fail(ErrorCode::Unsupported, "the kernel needs biases");
        if (effectiveArgument(m_root, "train", value) && value.asBool() && *value.asBool())
            return fail(ErrorCode::Unsupported, "it is in training mode");
        return {};
    }

    Result<bool> bind(const c10::Argument& argument, Argument& value)
    {
        const std::string& name = argument.name();
        if (isClassList(argument.type())) {
            QS_TRY(value.value, cellParameters());
            return true;
        }
        if (isClass(argument.type())) {
            QS_TRY(value.value, packed(name));
            return true;
        }
        if (name == "reduce_range")
            value = m_match.reduceRange;
        else if (name == "use_dynamic")
            value = true;
        else if (name == "dtype")
            value = m_half ? DType::Float16 : DType::QInt8;
        else if (name == "mode" || name == "pruned_weights" || name == "compressed_indices_mapping")
            return false; // already checked, or specific to the kernel
        else if (name == "X" || name == "input" || name == "data") {
            QS_TRY(value.value, activation());
        } else if (!effectiveArgument(m_root, cellArgument(name), value))
            return fail(ErrorCode::Unsupported,
                        "nothing gives the kernel's argument '" + name + "'");
        if (value.isNone() && argument.type()->kind() == c10::TypeKind::TensorType)
            return fail(ErrorCode::Unsupported, "the kernel needs a '" + name + "'");
        return true;
    }

    Result<ValueRef> activation() const
    {
        const auto op = weightedOp(m_root);
        const ValueRef read = op ? argumentRef(m_root, op->input) : *m_root.args[0].value.asRef();
        const ValueRef raw
            = m_half ? beforeHalfPair(m_edit, read) : beforeDynamicPair(m_edit, read);
        if (!raw)
            return fail(ErrorCode::Unsupported, "its input is not dynamically quantized");
        return raw;
    }

    Result<ValueRef> packed(const std::string& name)
    {
        const auto op = weightedOp(m_root);
        if (op && op->kind == WeightedOp::Kind::Embedding)
            return packedEmbedding(argumentRef(m_root, op->weight));
        Argument bias;
        ValueRef weight;
        if (op) {
            QS_TRY(weight, storedWeight(m_edit, m_root, *op));
            if (!op->bias.empty())
                effectiveArgument(m_root, op->bias, bias);
        } else {
            weight = argumentRef(m_root, name);
            effectiveArgument(m_root, name == "w_ih" ? "b_ih" : "b_hh", bias);
        }
        return packedLinear(weight, bias);
    }

    Result<ValueRef> packedLinear(ValueRef weight, const Argument& bias)
    {
        if (!weight)
            return fail(ErrorCode::Unsupported, "it has no weight");
        QS_TRY(const ValueRef given,
               m_half ? halfWeight(m_edit, weight) : quantizedWeight(m_edit, weight));
        return prepacked(m_half ? "quantized::linear_prepack_fp16" : "quantized::linear_prepack",
                         {{"W", given}, {"B", bias}});
    }

    Result<ValueRef> packedEmbedding(ValueRef weight)
    {
        const auto found = floatZeroPointWeight(m_edit, weight);
        if (!found)
            return fail(ErrorCode::Unsupported,
                        "its weight is not quantized with per_channel_affine_float_qparams");
        const bool fourBits = m_match.row.kernel.ends_with("_4bit");
        if (found->axis != 0 || fourBits != (found->dtype == DType::QUInt4x2))
            return fail(ErrorCode::Unsupported,
                        std::string("its weight is not ") + (fourBits ? "quint4x2" : "quint8"));
        const Node source = m_edit.get(found->source.node);
        Node quantize;
        quantize.name = "quantize_per_channel";
        quantize.target = "aten.quantize_per_channel.default";
        quantize.args = {{"self", found->source},
                         {"scales", found->scales},
                         {"zero_points", found->zeroPoints},
                         {"axis", found->axis},
                         {"dtype", found->dtype}};
        quantize.outputs.push_back({"", source.outputs.at(found->source.index).type});
        quantize.outputs[0].type.dtype = found->dtype;
        const NodeId q = call(std::move(quantize));
        return prepacked("quantized::embedding_bag_prepack", {{"weight", ValueRef {q, 0}}});
    }

    /// One parameter object per layer and direction, each from [w_ih, w_hh, b_ih, b_hh].
    Result<Argument::List> cellParameters()
    {
        const Argument* given = m_root.tryArg("params");
        Argument layers, bidirectional;
        effectiveArgument(m_root, "num_layers", layers);
        effectiveArgument(m_root, "bidirectional", bidirectional);
        const Argument::List* params = given ? given->asList() : nullptr;
        const std::size_t wanted = std::size_t(layers.asInt() ? *layers.asInt() : 0)
            * (bidirectional.asBool() && *bidirectional.asBool() ? 2 : 1);
        if (!params || params->size() != 4 * wanted)
            return fail(ErrorCode::Unsupported, "the kernel knows no projections");
        Argument::List cells;
        for (std::size_t i = 0; i < params->size(); i += 4) {
            const auto at = [&](std::size_t offset) { return (*params)[i + offset]; };
            std::vector<NamedArgument> args;
            for (const std::size_t side : {0, 1}) {
                QS_TRY(
                    const ValueRef weight,
                    packedLinear(at(side).asRef() ? *at(side).asRef() : ValueRef {}, at(2 + side)));
                args.push_back({side == 0 ? "w_ih" : "w_hh", weight});
            }
            if (!m_half) {
                args.push_back({"bias_ih", at(2)});
                args.push_back({"bias_hh", at(3)});
                args.push_back({"reduce_range", m_match.reduceRange});
            }
            QS_TRY(const ValueRef cell,
                   prepacked(m_half ? "quantized::make_quantized_cell_params_fp16"
                                    : "quantized::make_quantized_cell_params_dynamic",
                             std::move(args)));
            cells.emplace_back(cell);
        }
        return cells;
    }

    NodeId call(Node node)
    {
        return insertCall(m_edit, m_root, m_match.chain.back(), m_match.origin, std::move(node));
    }

    Result<ValueRef> prepacked(const std::string& packing, std::vector<NamedArgument> args)
    {
        return insertPackingCall(m_edit, m_root, packing, std::move(args), m_match.chain.back(),
                                 m_match.origin);
    }

    GraphEdit& m_edit;
    const FloatKernelMatch& m_match;
    const Node m_root; ///< a copy: insertions may move nodes
    bool m_half;
};

} // namespace

Result<NodeId> emitFloatKernel(GraphEdit& edit, const FloatKernelMatch& match)
{
    return FloatKernelEmitter(edit, match).emit();
}

ValueRef beforeDynamicPair(const GraphEdit& edit, ValueRef value)
{
    const Node* dequantize = value ? edit.tryGet(value.node) : nullptr;
    if (!dequantize || !dequantize->isOp(kDequantizeOfMoment))
        return {};
    const ValueRef quantized = argumentRef(*dequantize, "input");
    const Node& quantize = edit.get(quantized.node);
    if (!quantize.isOp(kQuantizeOfMoment))
        return {};
    // The kernels choose their parameters without symmetry.
    const ValueRef scale = argumentRef(quantize, "scale");
    const bool affine = scale && edit.get(scale.node).isOp(kChooseQParams);
    return affine ? argumentRef(quantize, "input") : ValueRef {};
}

ValueRef beforeHalfPair(const GraphEdit& edit, ValueRef value)
{
    auto before = value ? halfWeight(edit, value) : Result<ValueRef>(ValueRef {});
    return before ? *before : ValueRef {};
}

} // namespace qs
