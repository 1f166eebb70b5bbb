// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/ranges/stored_qparams.h"

#include "engine/base/torch_guard.h"
#include "engine/convert/quantize_weights.h"
#include "engine/execute/op_table.h"
#include "engine/execute/tensor_store.h"
#include "engine/execute/torch_types.h"
#include "engine/execute/value_conversion.h"
#include "engine/graph/operators/operator_words.h"
#include "engine/graph/operators/quantized_target.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>

namespace qs {

namespace {

const Argument* argumentNamed(const Node& node, std::string_view word)
{
    for (const NamedArgument& argument : node.args)
        if (argument.name.find(word) != std::string::npos)
            return &argument.value;
    return nullptr;
}

QParams perTensor(double scale, std::int64_t zeroPoint, DType dtype)
{
    QParams made;
    made.dtype = dtype;
    made.scale = {float(scale)};
    made.zeroPoint = {zeroPoint};
    const QuantRange range = storageRange(dtype);
    made.quantMin = range.min;
    made.quantMax = range.max;
    return made;
}

std::vector<std::int64_t> integersOf(const at::Tensor& tensor)
{
    const at::Tensor plain = tensor.to(at::kLong).contiguous();
    return {plain.const_data_ptr<std::int64_t>(),
            plain.const_data_ptr<std::int64_t>() + plain.numel()};
}

/// Returns the scheme for integer zero points, one per channel.
QScheme channelScheme(const std::vector<std::int64_t>& zeroPoints)
{
    const bool centred = std::all_of(zeroPoints.begin(), zeroPoints.end(),
                                     [](std::int64_t zero) { return zero == 0; });
    return centred ? QScheme::PerChannelSymmetric : QScheme::PerChannelAffine;
}

/// Reads the range in a node's arguments, if present.
void readRange(const Node& node, QParams& qparams)
{
    if (const Argument* low = node.tryArg("quant_min"); low && low->asInt())
        qparams.quantMin = *low->asInt();
    if (const Argument* high = node.tryArg("quant_max"); high && high->asInt())
        qparams.quantMax = *high->asInt();
}

QParams ofTensor(const at::Tensor& tensor)
{
    const bool perChannel = tensor.qscheme() == at::kPerChannelAffine
        || tensor.qscheme() == at::kPerChannelAffineFloatQParams;
    const DType dtype = fromScalarType(tensor.scalar_type());
    if (!perChannel)
        return perTensor(tensor.q_scale(), tensor.q_zero_point(), dtype);
    QParams made = perTensor(1, 0, dtype);
    made.axis = int(tensor.q_per_channel_axis());
    made.scale = floatsOf(tensor.q_per_channel_scales());
    const at::Tensor zeros = tensor.q_per_channel_zero_points();
    made.zeroPoint.clear();
    if (zeros.is_floating_point()) {
        made.qscheme = QScheme::PerChannelAffineFloatQParams;
        made.floatZeroPoint = floatsOf(zeros);
        return made;
    }
    made.zeroPoint = integersOf(zeros);
    made.qscheme = channelScheme(made.zeroPoint);
    return made;
}

class StoredReader
{
public:
    explicit StoredReader(const Graph& graph)
        : m_graph(graph)
    {
    }

    Result<StoredQParams> read(const Node& node)
    {
        StoredQParams out;
        out.node = node.id;
        if (node.kind != NodeKind::Op || node.target.find(".dequantize") != std::string::npos)
            return out; // the result of a dequantize is float
        if (isReferenceStep(node.target) && node.target.find("_channel") != std::string::npos) {
            QS_TRY(out.output, perChannel(node));
        } else {
            out.output = scalarParameters(node);
        }
        if (node.target.starts_with("quantized.") || node.target.starts_with("aten.quantized_")) {
            QS_TRY(out.weight, packedWeight(node));
        }
        return out;
    }

private:
    static std::optional<QParams> scalarParameters(const Node& node)
    {
        const bool chooses = node.target.starts_with("quantized.") || isReferenceStep(node.target)
            || node.isOp(kQuantizeTensor);
        const Argument* scale = argumentNamed(node, "scale");
        const Argument* zeroPoint = argumentNamed(node, "zero_point");
        if (!chooses || !scale || !zeroPoint || !scale->asDouble() || !zeroPoint->asInt())
            return std::nullopt;
        const Argument* dtype = node.tryArg("dtype");
        QParams made = perTensor(*scale->asDouble(), *zeroPoint->asInt(),
                                 dtype && dtype->asDType() ? *dtype->asDType() : DType::QUInt8);
        readRange(node, made);
        return made;
    }

    Result<at::IValue> stored(const Argument* argument) const
    {
        const auto* ref = argument ? argument->asRef() : nullptr;
        const Node* holder = ref ? m_graph.tryGet(ref->node) : nullptr;
        const bool held = holder && holder->isStored();
        return held ? tensorsOf(m_graph)->get(holder->tensor) : Result<at::IValue>(at::IValue());
    }

    Result<std::optional<QParams>> perChannel(const Node& node) const
    {
        QS_TRY(const at::IValue scales, stored(node.tryArg("scales")));
        if (!scales.isTensor())
            return std::nullopt;
        const Argument* dtype = node.tryArg("dtype");
        QParams made = perTensor(1, 0, dtype && dtype->asDType() ? *dtype->asDType() : DType::Int8);
        made.scale = floatsOf(scales.toTensor());
        QS_TRY(const at::IValue zeros, stored(node.tryArg("zero_points")));
        made.zeroPoint.assign(made.scale.size(), 0);
        if (zeros.isTensor() && std::size_t(zeros.toTensor().numel()) == made.scale.size())
            made.zeroPoint = integersOf(zeros.toTensor());
        made.qscheme = channelScheme(made.zeroPoint);
        if (const Argument* axis = node.tryArg("axis"); axis && axis->asInt())
            made.axis = int(*axis->asInt());
        if (const Argument* group = node.tryArg("group_size"); group && group->asInt())
            made.groupSize = int(*group->asInt());
        readRange(node, made);
        return std::optional(made);
    }

    /// Returns the parameters from unpacking the kernel's packed operand.
    Result<std::optional<QParams>> packedWeight(const Node& node) const
    {
        for (const NamedArgument& argument : node.args) {
            QS_TRY(const at::IValue held, stored(&argument.value));
            if (!held.isObject())
                continue;
            const std::string unpack = packedOperator(held.type()->annotation_str(), "unpack");
            const auto op = unpack.empty() ? std::nullopt : findOperator(unpack);
            if (!op)
                continue;
            std::optional<QParams> made;
            QS_CHECK(guardTorch([&]() -> Result<void> {
                torch::jit::Stack stack {held};
                op->callBoxed(stack);
                if (!stack.empty() && stack[0].isTensor() && stack[0].toTensor().is_quantized())
                    made = ofTensor(stack[0].toTensor());
                return {};
            }));
            return made;
        }
        return std::nullopt;
    }

    const Graph& m_graph;
};

} // namespace

std::string packedOperator(const std::string& type, const std::string& what)
{
    for (const char* kind : {"Conv2d", "Conv3d"})
        if (type.find(kind) != std::string::npos)
            return "quantized." + wordOfClass(kind) + "_" + what + ".default";
    if (what != "unpack")
        return {};
    if (type.find("Linear") != std::string::npos)
        return "quantized.linear_unpack.default";
    return type.find("Embedding") != std::string::npos ? "quantized.embedding_bag_unpack.default"
                                                       : std::string();
}

Result<std::vector<StoredQParams>> storedQParams(const Graph& graph)
{
    std::vector<StoredQParams> found;
    StoredReader reader(graph);
    for (const NodePtr& node : graph.nodes()) {
        auto read = reader.read(*node);
        if (!read)
            return fail(std::move(read).error().atNode(node->name));
        if (read->output || read->weight)
            found.push_back(std::move(*read));
    }
    return found;
}

} // namespace qs
