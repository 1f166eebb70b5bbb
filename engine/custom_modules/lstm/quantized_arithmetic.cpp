// SPDX-License-Identifier: Apache-2.0
#include "engine/custom_modules/lstm/quantized_arithmetic.h"

#include "engine/base/text.h"
#include "engine/graph/operators/operator_name.h"
#include "engine/graph/operators/quantized_target.h"

namespace qs {

std::optional<InteriorGrid> lstmGateGrid(const std::string& interior, DType dtype)
{
    const std::string leaf = lastPart(interior);
    const bool tanh = leaf == "cell_gate" || leaf == "tanh_cy";
    if (!tanh && !leaf.ends_with("_gate"))
        return std::nullopt;
    constexpr double kUnit = 1.0 / 256;
    constexpr std::int64_t kMiddle = 128;
    return InteriorGrid {dtype, tanh ? 2 * kUnit : kUnit,
                         (tanh ? kMiddle : 0) - (dtype == DType::QInt8 ? kMiddle : 0)};
}

ValueRef QuantizedLstmArithmetic::linear(GraphEdit& edit, LstmStep step, ValueRef x,
                                         std::size_t side, std::span<const ValueRef> parameters)
{
    const InteriorGrid out = m_gridOf(step.interior).value();
    step.node.target = "quantized.linear.default";
    step.node.args = {{"X", x},
                      {"W_prepack", parameters[side]},
                      {"Y_scale_i", out.scale},
                      {"Y_zero_point_i", out.zeroPoint}};
    return {edit.insert(std::move(step.node)), 0};
}

ValueRef QuantizedLstmArithmetic::binary(GraphEdit& edit, LstmStep step, const char* op, ValueRef a,
                                         ValueRef b)
{
    const InteriorGrid out = m_gridOf(step.interior).value();
    step.node.target = std::string("quantized.") + op + ".default";
    step.node.args = {{"qa", a}, {"qb", b}, {"scale", out.scale}, {"zero_point", out.zeroPoint}};
    return {edit.insert(std::move(step.node)), 0};
}

ValueRef QuantizedLstmArithmetic::gate(GraphEdit& edit, LstmStep step, const char* op, ValueRef x)
{
    step.node.target = std::string("aten.") + op + ".default";
    step.node.args = {{"self", x}};
    return {edit.insert(std::move(step.node)), 0};
}

ValueRef QuantizedLstmArithmetic::aligned(GraphEdit& edit, ValueRef value,
                                          const std::string& interior)
{
    const InteriorGrid wanted = m_gridOf(interior).value();
    Node node = edit.get(value.node);
    const Value like = node.outputs.at(value.index);
    node.subgraphs.clear();
    node.id = {};
    node.name = operatorParts(kDequantizeTensor).word;
    node.target = kDequantizeTensor;
    node.args = {{"self", value}};
    node.outputs = {{"", like.type}};
    node.outputs[0].type.dtype = DType::Float32;
    const ValueRef real {edit.insert(node), 0};
    node.name = "quantize_per_tensor";
    node.target = kQuantizeTensor;
    node.args = {{"self", real},
                 {"scale", wanted.scale},
                 {"zero_point", wanted.zeroPoint},
                 {"dtype", wanted.dtype}};
    node.outputs = {{"", like.type}};
    return {edit.insert(std::move(node)), 0};
}

} // namespace qs
