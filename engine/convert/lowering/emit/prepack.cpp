// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/lowering/emit/prepack.h"

#include "engine/base/text.h"
#include "engine/convert/lowering/lowering_ops.h"
#include "engine/execute/op_table.h"
#include "engine/execute/value_conversion.h"
#include "engine/graph/operators/class_parts.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/quantized_target.h"

namespace qs {

NodeId insertCall(GraphEdit& edit, const Node& like, NodeId before, NodeId origin, Node call)
{
    call.id = {};
    call.kind = NodeKind::Op;
    call.scope = like.scope;
    call.source = like.source;
    call.torchFn = like.torchFn;
    call.origin = origin;
    return edit.insert(std::move(call), before);
}

std::optional<c10::OperatorHandle> findKernel(const std::string& kernel)
{
    const auto dot = kernel.find('.');
    const std::string name = kernel.substr(0, dot);
    auto& dispatcher = c10::Dispatcher::singleton();
    if (dot != std::string::npos)
        return dispatcher.findSchema({name, kernel.substr(dot + 1)});
    if (auto found = dispatcher.findSchema({name, partsOverload("")}))
        return found;
    // Convolutions have an older overload that repeats stride and padding; `new` is the current
    // one.
    if (auto found = dispatcher.findSchema({name, "new"}))
        return found;
    return dispatcher.findSchema({name, ""});
}

Result<ValueRef> storedWeight(const GraphEdit& edit, const Node& root, const WeightedOp& op)
{
    const WeightPath path = weightPath(edit, argumentRef(root, op.weight));
    const bool asStored = op.weight == "weight" ? path.layout.empty() : path.layout.size() == 1;
    if (!path.source || !asStored)
        return fail(ErrorCode::Unsupported, "its weight is not stored as [out, in]");
    return path.source;
}

Result<ValueRef> quantizedWeight(const GraphEdit& edit, ValueRef dequantized)
{
    const Node& dequantize = edit.get(dequantized.node);
    if (!dequantize.isOp(kDequantizeTensor))
        return fail(ErrorCode::Unsupported, "its weight is not quantized");
    const ValueRef quantized = argumentRef(dequantize, "self");
    const Argument* dtype = edit.get(quantized.node).tryArg("dtype");
    if (!dtype || !dtype->asDType() || *dtype->asDType() != DType::QInt8)
        return fail(ErrorCode::Unsupported, "its weight is not qint8");
    return quantized;
}

Result<ValueRef> halfWeight(const GraphEdit& edit, ValueRef cast)
{
    for (const DType dtype : {DType::Float32, DType::Float16}) {
        const Node& node = edit.get(cast.node);
        const Argument* wanted = node.isOp(kCastTarget) ? node.tryArg("dtype") : nullptr;
        if (!wanted || !wanted->asDType() || *wanted->asDType() != dtype)
            return fail(ErrorCode::Unsupported, "its weight is not float16");
        cast = argumentRef(node, "self");
    }
    return cast;
}

Result<ValueRef> insertPrepack(GraphEdit& edit, const Node& root, const std::string& kind,
                               ValueRef weight, NodeId before, NodeId origin)
{
    const auto op = weightedOp(root);
    const auto handle = findKernel("quantized::" + kind + "_prepack");
    if (!op || !handle)
        return fail(ErrorCode::Unsupported, "there is no prepacking for '" + kind + "'");
    const std::size_t dims
        = kind.starts_with("conv") ? std::size_t(kind[kind.size() - 2] - '0') : 0;
    std::vector<NamedArgument> args;
    for (const auto& argument : handle->schema().arguments()) {
        const std::string& name = argument.name();
        Argument value;
        if (name == "weight" || name == "W")
            value = weight;
        else if (name == "bias" || name == "B") {
            if (!op->bias.empty())
                effectiveArgument(root, op->bias, value);
        } else if (name == "groups")
            effectiveArgument(root, name, value);
        else {
            const ValueRef filter = argumentRef(root, "weight");
            const ValueType& type = edit.get(filter.node).outputs.at(filter.index).type;
            QS_TRY(value.value, convolutionList(root, type, name, dims));
        }
        args.push_back({name, std::move(value)});
    }
    return insertPackingCall(edit, root, "quantized::" + kind + "_prepack", std::move(args), before,
                             origin);
}

Result<ValueRef> insertPackingCall(GraphEdit& edit, const Node& like, const std::string& packing,
                                   std::vector<NamedArgument> args, NodeId before, NodeId origin)
{
    const auto handle = findKernel(packing);
    if (!handle)
        return fail(ErrorCode::Unsupported, "LibTorch has no operator " + packing);
    Node node;
    node.target = targetOf(handle->operator_name());
    node.name = packing.substr(packing.find("::") + 2);
    node.args = std::move(args);
    Value value;
    const c10::TypePtr packed = handle->schema().returns().at(0).type();
    if (packed->kind()
        != c10::TypeKind::TensorType) { // packing operators of packs may return tensors
        value.type.kind = ValueKind::Custom;
        value.type.className = lastPart(packed->str());
    }
    node.outputs.push_back(std::move(value));
    return ValueRef {insertCall(edit, like, before, origin, std::move(node)), 0};
}

} // namespace qs
