// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/lowering/quantized_tensors.h"

#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/quantized_target.h"
#include "engine/prepare/weighted_op.h"

namespace qs {

namespace {

/// The quantized tensor type that stores an integer type.
DType quantizedDType(DType stored)
{
    switch (stored) {
    case DType::UInt8:
        return DType::QUInt8;
    case DType::Int8:
        return DType::QInt8;
    case DType::Int32:
        return DType::QInt32;
    default:
        return DType::Unknown;
    }
}

} // namespace

bool useQuantizedTensor(GraphEdit& edit, NodeId id)
{
    const Node& node = edit.get(id);
    if (node.kind != NodeKind::Op || !isReferenceStep(node.target))
        return false;
    const std::string op = node.target.substr(node.target.find('.') + 1);
    const ValueRef input = argumentRef(node, "input");
    const bool perChannel = op.find("_per_channel") != std::string::npos;
    if (op == "quantize_per_tensor.default" || op == "quantize_per_channel.default") {
        const Argument* stored = node.tryArg("dtype");
        const DType dtype
            = stored && stored->asDType() ? quantizedDType(*stored->asDType()) : DType::Unknown;
        if (dtype == DType::Unknown)
            return false;
        std::vector<NamedArgument> args {{"self", input}};
        for (const char* name : {"scale", "zero_point", "scales", "zero_points", "axis"})
            if (const Argument* value = node.tryArg(name))
                args.push_back({name, *value});
        args.push_back({"dtype", dtype});
        edit.setArgs(id, std::move(args));
        edit.change(id).target = "aten." + op;
        edit.change(id).outputs.at(0).type.dtype = dtype;
        return !perChannel;
    }
    if (op.starts_with("dequantize_per_")) {
        // Only where its quantize was turned as well.
        if (!input || !isTensorQuantize(edit.get(input.node).target))
            return false;
        edit.setArgs(id, {{"self", input}});
        edit.change(id).target = std::string(kDequantizeTensor);
    }
    return false;
}

void readShapeBeforeDequantize(GraphEdit& edit, NodeId id)
{
    const Node& node = edit.get(id);
    const std::string_view word = atenWord(node.target);
    if (word != "size" && word != "sym_size" && !node.isOp(kElementsTarget))
        return;
    const ValueRef read = argumentRef(node, "self");
    if (read && edit.get(read.node).isOp(kDequantizeTensor))
        edit.replaceArgument(id, 0, read, argumentRef(edit.get(read.node), "self"));
}

} // namespace qs
