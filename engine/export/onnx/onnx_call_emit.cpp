// SPDX-License-Identifier: Apache-2.0
// Functions of OnnxCall that emit nodes; its queries are in onnx_call.cpp.
#include "engine/execute/torch_types.h"
#include "engine/export/onnx/onnx_call.h"

#include <ATen/ATen.h>

#include <numeric>

namespace qs {

std::string OnnxCall::emit(const std::string& op, std::vector<std::string> inputs,
                           OnnxAttributes attributes)
{
    return m_builder.emit(op, std::move(inputs), std::move(attributes), 1).front();
}

std::vector<std::string> OnnxCall::emitMany(const std::string& op, std::vector<std::string> inputs,
                                            std::size_t outputs, OnnxAttributes attributes)
{
    return m_builder.emit(op, std::move(inputs), std::move(attributes), outputs);
}

std::string OnnxCall::cast(const std::string& value, DType to)
{
    const int number = onnxTypeNumber(to);
    if (!number)
        refuse("ONNX has no element type " + std::string(dtypeName(to)));
    return emit("Cast", {value}, {{"to", number}});
}

std::string OnnxCall::ints(const std::vector<std::int64_t>& values)
{
    return constant(at::tensor(at::IntArrayRef(values), at::kLong), "sizes");
}

std::string OnnxCall::scalar(double value, DType dtype)
{
    return constant(at::scalar_tensor(value, at::kDouble).to(toScalarType(dtype)), "number");
}

std::string OnnxCall::constant(const at::Tensor& tensor, const std::string& wanted, bool isNibbles)
{
    return m_builder.initializer(tensor, wanted, isNibbles);
}

bool OnnxCall::isStoredInNibbles()
{
    if (opset() < 21 || m_builder.target() != OnnxTarget::Generic)
        return false;
    const auto fits = [this](const char* name) {
        const Argument* argument = given(name);
        if (!argument)
            return true;
        const ValueRef* ref = argument->asRef();
        const auto tensor = ref ? m_builder.constant(*ref)
            : fixed(*argument)  ? std::optional(at::scalar_tensor(*fixed(*argument), at::kLong))
                                : std::nullopt;
        if (!tensor || tensor->numel() == 0 || tensor->is_floating_point())
            return false;
        const bool isUnsigned = dtype("input") == DType::UInt8;
        const at::Tensor wide = tensor->to(at::kLong);
        return wide.min().item().toLong() >= (isUnsigned ? 0 : -8)
            && wide.max().item().toLong() <= (isUnsigned ? 15 : 7);
    };
    const DType held = dtype("input");
    return (held == DType::Int8 || held == DType::UInt8) && fits("input") && fits("zero_point")
        && fits("zero_points");
}

std::string OnnxCall::reduce(const std::string& op, const std::string& value,
                             std::vector<std::int64_t> axes, bool keep)
{
    const bool asInput = opset() >= 18 || op == "ReduceSum";
    OnnxAttributes attributes {{"keepdims", keep}};
    std::vector<std::string> inputs {value};
    if (!axes.empty() && asInput)
        inputs.push_back(ints(axes));
    else if (!axes.empty())
        attributes.emplace_back("axes", std::move(axes));
    return emit(op, std::move(inputs), std::move(attributes));
}

std::string OnnxCall::unsqueeze(const std::string& value, const std::vector<std::int64_t>& axes)
{
    return axes.empty() ? value : emit("Unsqueeze", {value, ints(axes)});
}

std::string OnnxCall::squeeze(const std::string& value, const std::vector<std::int64_t>& axes)
{
    return axes.empty() ? value : emit("Squeeze", {value, ints(axes)});
}

std::string OnnxCall::transpose(const std::string& value, std::vector<std::int64_t> order)
{
    return emit("Transpose", {value}, {{"perm", std::move(order)}});
}

std::string OnnxCall::swapLast(const std::string& value, int rank)
{
    if (rank < 2) {
        refuse("it exchanges two dimensions of a value that has fewer");
        return {};
    }
    std::vector<std::int64_t> order(static_cast<std::size_t>(rank));
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[std::size_t(rank) - 1], order[std::size_t(rank) - 2]);
    return transpose(value, std::move(order));
}

std::string OnnxCall::reshape(const std::string& value, const std::vector<std::int64_t>& sizes)
{
    return emit("Reshape", {value, ints(sizes)});
}

std::string OnnxCall::sizeOf(const std::string& value, std::int64_t dim)
{
    return emit("Gather", {emit("Shape", {value}), ints({dim})}, {{"axis", 0}});
}

std::string OnnxCall::slice(const std::string& value, std::int64_t axis, std::int64_t start,
                            std::int64_t end, std::int64_t step)
{
    return emit("Slice", {value, ints({start}), ints({end}), ints({axis}), ints({step})});
}

void OnnxCall::give(const std::string& value, std::size_t index)
{
    if (m_refusal.empty() && index < m_node.outputs.size())
        m_builder.give({m_node.id, std::uint32_t(index)}, value);
}

void OnnxCall::giveAll(const std::vector<std::string>& values)
{
    if (values.size() != m_node.outputs.size()) {
        refuse("how many values it returns is decided as the model runs");
        return;
    }
    for (std::size_t i = 0; i < values.size(); ++i)
        give(values[i], i);
}

} // namespace qs
