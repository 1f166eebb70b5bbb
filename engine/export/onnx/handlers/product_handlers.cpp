// SPDX-License-Identifier: Apache-2.0
// Matrix products.
#include "engine/execute/torch_types.h"
#include "engine/export/onnx/onnx_handlers.h"
#include "engine/graph/operators/quantized_target.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace qs {

namespace {

std::string matMul(OnnxCall& c, const std::string& a, const std::string& b)
{
    return c.emit("MatMul", {a, b});
}

/// The dequantize step of a weight that is stored as integers, which are assigned to `integers`;
/// null if the weight is not stored as integers.
const Node* storedIntegers(OnnxCall& c, ValueRef weight, at::Tensor& integers)
{
    const Graph& graph = c.builder().graph();
    const Node& step = graph.get(weight.node);
    if (step.target != kDequantizePerChannel && step.target != kDequantizePerTensor
        && !(step.target == kDequantizePerGroup && c.opset() >= 21))
        return nullptr;
    const Argument* input = step.tryArg("input");
    const ValueRef* ref = input ? input->asRef() : nullptr;
    const auto tensor = ref ? c.builder().constant(*ref) : std::nullopt;
    if (!tensor || tensor->dim() != 2)
        return nullptr;
    integers = *tensor;
    return &step;
}

/// Number of values in a row that share a scale, at most the length of the row.
std::int64_t groupSize(OnnxCall& step, const at::Tensor& integers)
{
    return std::min(step.integer("group_size", 0), integers.size(1));
}

/// A weight [out, in] as [in, out]. Stored integers are transposed in the file, so that runtimes
/// find a product with a dequantized weight.
std::string transposedWeight(OnnxCall& c)
{
    const ValueRef* ref = c.given("weight") ? c.given("weight")->asRef() : nullptr;
    if (!ref) {
        c.refuse("its weight is not a tensor");
        return {};
    }
    const std::string name = c.builder().graph().value(*ref).name;
    if (const auto tensor = c.builder().constant(*ref); tensor && tensor->dim() == 2)
        return c.constant(tensor->t(), name + "_transposed");
    at::Tensor integers;
    const Node* step = storedIntegers(c, *ref, integers);
    const auto isReal = [&](const Argument* zeroPoints) {
        const ValueRef* points = zeroPoints ? zeroPoints->asRef() : nullptr;
        return points && isFloating(c.builder().graph().value(*points).type.dtype);
    };
    if (!step || isReal(step->tryArg("zero_points")))
        return c.swapLast(c.in("weight"), c.rank("weight"));
    // Same parameters as the step that it replaces.
    OnnxCall other(c.builder(), *step);
    const bool nibbles = other.isStoredInNibbles();
    const std::string stored = c.constant(
        integers.t(),
        c.builder().graph().value(*step->tryArg("input")->asRef()).name + "_transposed", nibbles);
    const auto dtype = integers.scalar_type();
    std::vector<std::string> inputs {stored};
    OnnxAttributes attributes;
    if (other.has("scales")) {
        const auto scales = c.builder().constant(*other.given("scales")->asRef());
        const Argument* points = other.given("zero_points");
        const auto zeros
            = points && points->asRef() ? c.builder().constant(*points->asRef()) : std::nullopt;
        if (!scales) {
            c.refuse("the scales of its weight are not fixed");
            return {};
        }
        const auto turned = [](const at::Tensor& t) { return t.dim() == 2 ? t.t() : t; };
        inputs.push_back(c.constant(turned(scales->to(at::kFloat)), name + "_scale"));
        inputs.push_back(
            c.constant(turned(zeros ? zeros->to(dtype) : at::zeros_like(*scales, dtype)),
                       name + "_zero_point", nibbles));
        // Groups are along the rows, which are now columns.
        const bool byGroups = step->target == kDequantizePerGroup;
        attributes.emplace_back("axis",
                                byGroups ? 0 : 1 - other.wrapped(other.integer("axis", 0), 2));
        if (byGroups)
            attributes.emplace_back("block_size", groupSize(other, integers));
    } else {
        inputs.push_back(c.scalar(other.number("scale", 1), DType::Float32));
        inputs.push_back(
            c.constant(at::scalar_tensor(other.integer("zero_point", 0), at::kLong).to(dtype),
                       "zero_point", nibbles));
    }
    return c.emit("DequantizeLinear", std::move(inputs), std::move(attributes));
}

/// Whether ONNX Runtime can fuse the layer to an integer product with bias (QGemm, which requires
/// an input of two dimensions).
bool isIntegerProduct(OnnxCall& c)
{
    const Graph& graph = c.builder().graph();
    const auto made = [&](const char* name) {
        const ValueRef* ref = c.given(name) ? c.given(name)->asRef() : nullptr;
        return ref ? std::optional(*ref) : std::nullopt;
    };
    const auto x = made("input"), weight = made("weight");
    at::Tensor integers;
    return c.builder().target() == OnnxTarget::OrtCpu && x && weight
        && graph.get(x->node).target == kDequantizePerTensor && storedIntegers(c, *weight, integers)
        && isByte(fromScalarType(integers.scalar_type()));
}

/// The sizes of all dimensions except the last, then `last`; at most one size is left for Reshape
/// to infer.
std::string leadingSizes(OnnxCall& c, const std::string& x, std::int64_t last)
{
    const int rank = c.rank("input");
    std::vector<std::int64_t> sizes;
    for (int dim = 0; dim + 1 < rank; ++dim)
        sizes.push_back(c.fixedSize("input", dim).value_or(-1));
    if (std::count(sizes.begin(), sizes.end(), -1) > 1)
        return c.emit("Concat", {c.slice(c.emit("Shape", {x}), 0, 0, rank - 1), c.ints({last})},
                      {{"axis", 0}});
    sizes.push_back(last);
    return c.ints(sizes);
}

/// A linear layer by Gemm: joins all dimensions before the last, and restores them afterwards.
void linearByRows(OnnxCall& c)
{
    const std::string x = c.in("input");
    const auto in = c.fixedSize("weight", 1), out = c.fixedSize("weight", 0);
    if (!in || !out) {
        c.refuse("the sizes of its weight are open");
        return;
    }
    std::vector<std::string> inputs {c.reshape(x, {-1, *in}), c.in("weight")};
    if (c.has("bias"))
        inputs.push_back(c.in("bias"));
    const std::string rows = c.emit("Gemm", std::move(inputs), {{"transB", 1}});
    c.give(c.emit("Reshape", {rows, leadingSizes(c, x, *out)}));
}

/// Whether the weight is quantized in groups: runtimes look for a product with such a weight.
bool isInGroups(OnnxCall& c)
{
    const ValueRef* weight = c.given("weight") ? c.given("weight")->asRef() : nullptr;
    return weight && c.builder().graph().get(weight->node).target == kDequantizePerGroup;
}

/// Gemm for an input of two dimensions, else a product and a sum.
void linear(OnnxCall& c)
{
    if (c.rank("input") > 2 && c.rank("weight") == 2 && isIntegerProduct(c)) {
        linearByRows(c);
        return;
    }
    const std::string x = c.in("input");
    if (c.rank("input") == 2 && c.rank("weight") == 2 && !isInGroups(c)) {
        std::vector<std::string> inputs {x, c.in("weight")};
        if (c.has("bias"))
            inputs.push_back(c.in("bias"));
        c.give(c.emit("Gemm", std::move(inputs), {{"transB", 1}}));
        return;
    }
    if (c.rank("weight") != 2) {
        c.refuse("its weight is not a matrix");
        return;
    }
    const std::string made = matMul(c, x, transposedWeight(c));
    c.give(c.has("bias") ? c.emit("Add", {made, c.in("bias")}) : made);
}

void multiplyMatrices(OnnxCall& c)
{
    const DType dtype = c.resultDType();
    const char* other = c.has("mat2") ? "mat2" : c.has("vec") ? "vec" : "other";
    if (c.has("tensor"))
        other = "tensor";
    c.give(matMul(c, c.in("self", dtype), c.in(other, dtype)));
}

/// beta * self + alpha * (a @ b).
void addMultiplied(OnnxCall& c, const char* left, const char* right)
{
    const DType dtype = c.resultDType();
    const double alpha = c.number("alpha", 1), beta = c.number("beta", 1);
    const std::string a = c.in(left, dtype), b = c.in(right, dtype);
    const bool flat = c.node().target.starts_with("aten.addmm.");
    if (flat && isFloating(dtype)) {
        c.give(c.emit("Gemm", {a, b, c.in("self", dtype)}, {{"alpha", alpha}, {"beta", beta}}));
        return;
    }
    const auto scaled = [&](const std::string& value, double factor) {
        return factor == 1 ? value : c.emit("Mul", {value, c.scalar(factor, dtype)});
    };
    const std::string product = scaled(matMul(c, a, b), alpha);
    c.give(c.emit("Add", {scaled(c.in("self", dtype), beta), product}));
}

void einsum(OnnxCall& c)
{
    std::string equation = c.text("equation");
    std::erase(equation, ' ');
    c.give(c.emit("Einsum", c.inList("tensors", c.resultDType()), {{"equation", equation}}));
}

void outer(OnnxCall& c)
{
    const DType dtype = c.resultDType();
    c.give(c.emit("Mul",
                  {c.unsqueeze(c.in("self", dtype), {1}),
                   c.unsqueeze(c.in(c.has("vec2") ? "vec2" : "other", dtype), {0})}));
}

/// sum over i, j of x1[n, i] * weight[o, i, j] * x2[n, j].
void bilinear(OnnxCall& c)
{
    const std::string made = c.emit("Einsum", {c.in("input1"), c.in("weight"), c.in("input2")},
                                    {{"equation", "...i,oij,...j->...o"}});
    c.give(c.has("bias") ? c.emit("Add", {made, c.in("bias")}) : made);
}

} // namespace

void addProductHandlers(OnnxHandlers& table)
{
    table["linear"] = linear;
    for (const char* name : {"matmul", "mm", "bmm", "mv", "dot"})
        table[name] = multiplyMatrices;
    table["addmm"] = [](OnnxCall& c) { addMultiplied(c, "mat1", "mat2"); };
    table["baddbmm"] = [](OnnxCall& c) { addMultiplied(c, "batch1", "batch2"); };
    table["addmv"] = [](OnnxCall& c) { addMultiplied(c, "mat", "vec"); };
    table["einsum"] = einsum;
    table["outer"] = table["ger"] = outer;
    table["bilinear"] = bilinear;
}

} // namespace qs
