// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/export/export_samples.h"

#include "engine/execute/control/higher_order.h"
#include "engine/graph/operators/engine_ops.h"
#include "tests/engine/export/graph_builder.h"

#include <ATen/CPUGeneratorImpl.h>

namespace qs {

static const char* const kLeaf = R"({"type":null,"context":null,"children_spec":[]})";

static std::string container(const std::string& type, const std::string& context,
                             const std::vector<std::string>& children)
{
    std::string escaped;
    for (const char c : context)
        escaped += c == '"' ? std::string("\\\"") : std::string(1, c);
    std::string text
        = R"({"type":")" + type + R"(","context":")" + escaped + R"(","children_spec":[)";
    for (std::size_t i = 0; i < children.size(); ++i)
        text += (i ? "," : "") + children[i];
    return text + "]}";
}

static std::string spec(const std::string& root)
{
    return "[1," + root + "]";
}

static const char* const kRanges
    = R"({"graph_module":{},"range_constraints":{"s77":{"min_val":1,"max_val":64}}})";

at::Tensor random(at::IntArrayRef shape, int seed)
{
    auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
    return at::randn(shape, generator, at::TensorOptions(at::kFloat));
}

static at::Tensor channelScales(const at::Tensor& weight)
{
    return weight.flatten(1).abs().amax(1).clamp_min(1e-6) / 127.5;
}

at::IValue strings(const std::vector<std::pair<std::string, at::IValue>>& items)
{
    c10::impl::GenericDict dict(c10::StringType::get(), c10::AnyType::get());
    for (const auto& [key, value] : items)
        dict.insert(key, value);
    return dict;
}

at::IValue tuple(Values values)
{
    return c10::ivalue::Tuple::create(std::move(values));
}

/// Convolution and linear in reference form, sizes read at run time, keyword and nested inputs, a
/// mapping with a tuple inside as output.
Sample referenceSample()
{
    GraphBuilder b;
    const ValueRef x = b.input("x", GraphBuilder::batchOf({3, 8, 8}));
    const ValueRef k = b.input("k", GraphBuilder::tensor({Dim::fixed(1)}));
    const ValueRef left = b.input("left", GraphBuilder::batchOf({2}));
    const ValueRef right = b.input("right", GraphBuilder::batchOf({2}));
    const at::Tensor cw = random({4, 3, 3, 3}, 1), lw = random({5, 36}, 2);
    const ValueRef convWeight = b.held("conv.weight", cw);
    const ValueRef convBias = b.held("conv.bias", random({4}, 3));
    const ValueRef fcWeight = b.held("fc.weight", lw);
    const auto image = GraphBuilder::batchOf({4, 6, 6});
    const ValueRef xq
        = b.pair(x, 0.031, 121, {0, 255}, DType::UInt8, GraphBuilder::batchOf({3, 8, 8}));
    const ValueRef wq = b.channelPair(convWeight, channelScales(cw), "conv.weight");
    const ValueRef conv
        = b.op("aten.conv2d.default", {{"input", xq}, {"weight", wq}, {"bias", convBias}}, image);
    const ValueRef relu = b.op("aten.relu.default", {{"self", conv}}, image);
    const ValueRef rq = b.pair(relu, 0.05, 0, {0, 127}, DType::UInt8, image);
    const ValueRef pool = b.op(
        "aten.max_pool2d.default",
        {{"self", rq}, {"kernel_size", Argument::List {2, 2}}, {"stride", Argument::List {2, 2}}},
        GraphBuilder::batchOf({4, 3, 3}));
    const ValueRef size = b.symbol("aten.sym_size.int", {{"self", x}, {"dim", 0}},
                                   GraphBuilder::batch().expression);
    const ValueRef flat
        = b.op("aten.view.default", {{"self", pool}, {"size", Argument::List {size, -1}}},
               GraphBuilder::batchOf({36}));
    const ValueRef fq = b.channelPair(fcWeight, channelScales(lw), "fc.weight");
    const ValueRef fc = b.op("aten.linear.default", {{"input", flat}, {"weight", fq}},
                             GraphBuilder::batchOf({5}));
    const ValueRef out = b.pair(fc, 0.21, -3, {-128, 127}, DType::Int8, GraphBuilder::batchOf({5}));
    const NodeId parts = b.many("aten.split_with_sizes.default",
                                {{"self", out}, {"split_sizes", Argument::List {2, 3}}, {"dim", 1}},
                                {GraphBuilder::batchOf({2}), GraphBuilder::batchOf({3})});
    const ValueRef sum = b.op("aten.add.Tensor", {{"self", ValueRef {parts, 0}}, {"other", left}},
                              GraphBuilder::batchOf({2}));
    const ValueRef both = b.op("aten.sub.Tensor", {{"self", sum}, {"other", right}, {"alpha", 2}},
                               GraphBuilder::batchOf({2}));
    const ValueRef scaled = b.op("aten.mul.Tensor", {{"self", ValueRef {parts, 1}}, {"other", k}},
                                 GraphBuilder::batchOf({3}));
    b.info().exportRecord = kRanges;
    b.info().inputTree = spec(container(
        "builtins.tuple", "null",
        {container("builtins.tuple", "null", {kLeaf}),
         container("builtins.dict", R"(["k", "pair"])",
                   {kLeaf, container("builtins.dict", R"(["left", "right"])", {kLeaf, kLeaf})})}));
    b.info().outputTree
        = spec(container("builtins.dict", R"(["both", "rest"])",
                         {kLeaf, container("builtins.tuple", "null", {kLeaf, kLeaf, kLeaf})}));
    Sample sample;
    sample.graph = b.finish({both, scaled, Argument(), size});
    sample.structure = "{'both': 'T', 'rest': ('T', None, 'I')}";
    sample.call = [](int n) {
        const at::IValue x = random({n, 3, 8, 8}, 10 + n), k = random({1}, 11 + n);
        const at::IValue left = random({n, 2}, 12 + n), right = random({n, 2}, 13 + n);
        c10::Dict<std::string, at::Tensor> pair;
        pair.insert("left", left.toTensor());
        pair.insert("right", right.toTensor());
        return Sample::Call {tuple({x}), strings({{"k", k}, {"pair", pair}}), {x, k, left, right}};
    };
    return sample;
}

static ValueRef quantizedWeight(GraphBuilder& b, const std::string& name, const at::Tensor& weight)
{
    const ValueRef held = b.held(name + ".weight", weight);
    const ValueRef scales
        = b.held(name + ".weight_scale", channelScales(weight).to(at::kDouble), NodeKind::Constant);
    const ValueRef zeros = b.held(name + ".weight_zero_point",
                                  at::zeros({weight.size(0)}, at::kLong), NodeKind::Constant);
    return b.op("aten.quantize_per_channel.default",
                {{"self", held},
                 {"scales", scales},
                 {"zero_points", zeros},
                 {"axis", 0},
                 {"dtype", DType::QInt8}},
                {});
}

static ValueType packed()
{
    ValueType type;
    type.kind = ValueKind::Custom;
    return type;
}

static Argument::List twice(int n)
{
    return {n, n};
}

/// LibTorch's quantized kernels with packed weights, and one layer left in reference form.
Sample loweredSample()
{
    GraphBuilder b;
    const ValueRef x = b.input("image", GraphBuilder::batchOf({3, 8, 8}));
    const ValueRef bias = b.held("conv.bias", random({4}, 3));
    const ValueRef convWeight = quantizedWeight(b, "conv", random({4, 3, 3, 3}, 1));
    const ValueRef conv = b.op("quantized.conv2d_prepack.default",
                               {{"weight", convWeight},
                                {"bias", bias},
                                {"stride", twice(1)},
                                {"padding", twice(1)},
                                {"dilation", twice(1)},
                                {"groups", 1}},
                               packed());
    const ValueRef fcWeight = quantizedWeight(b, "fc", random({5, 64}, 2));
    const ValueRef fc
        = b.op("quantized.linear_prepack.default", {{"W", fcWeight}, {"B", Argument()}}, packed());
    const ValueRef lastWeight = b.held("last.weight", random({4, 5}, 7));
    const auto q = [](const std::vector<std::int64_t>& rest) {
        return GraphBuilder::batchOf(rest, DType::QUInt8);
    };
    const ValueRef xq
        = b.op("aten.quantize_per_tensor.default",
               {{"self", x}, {"scale", 0.031}, {"zero_point", 121}, {"dtype", DType::QUInt8}},
               q({3, 8, 8}));
    const ValueRef relu = b.op(
        "quantized.conv2d_relu.new",
        {{"qx", xq}, {"packed_weight", conv}, {"output_scale", 0.05}, {"output_zero_point", 0}},
        q({4, 8, 8}));
    const ValueRef pool
        = b.op("aten.max_pool2d.default",
               {{"self", relu}, {"kernel_size", twice(2)}, {"stride", twice(2)}}, q({4, 4, 4}));
    const ValueRef flat
        = b.op("aten.flatten.using_ints", {{"self", pool}, {"start_dim", 1}}, q({64}));
    const ValueRef linear
        = b.op("quantized.linear.default",
               {{"X", flat}, {"W_prepack", fc}, {"Y_scale_i", 0.3}, {"Y_zero_point_i", 7}}, q({5}));
    const ValueRef sum
        = b.op("quantized.add.default",
               {{"qa", linear}, {"qb", linear}, {"scale", 0.5}, {"zero_point", 3}}, q({5}));
    const ValueRef real = b.op("aten.dequantize.self", {{"self", sum}}, GraphBuilder::batchOf({5}));
    const ValueRef again
        = b.pair(real, 0.4, 60, {0, 127}, DType::UInt8, GraphBuilder::batchOf({5}));
    const ValueRef wq = b.channelPair(lastWeight, at::full({4}, 0.02), "last.weight");
    const ValueRef last = b.op("aten.linear.default", {{"input", again}, {"weight", wq}},
                               GraphBuilder::batchOf({4}));
    const NodeId halves = b.many("aten.chunk.default", {{"self", last}, {"chunks", 2}, {"dim", 1}},
                                 {GraphBuilder::batchOf({2}), GraphBuilder::batchOf({2})});
    Sample sample;
    sample.graph = b.finish({real, ValueRef {halves, 1}, ValueRef {halves, 0}});
    sample.structure = "('T', 'T', 'T')";
    sample.call = [](int n) {
        const at::IValue image = random({n, 3, 8, 8}, 20 + n);
        return Sample::Call {tuple({image}), strings({}), {image}};
    };
    return sample;
}

/// Sizes computed at run time, lists of tensors with holes, numbers where tensors stand, several
/// returns, enumerations, buffers of both kinds, quantization along channels of an activation.
Sample arithmeticSample()
{
    GraphBuilder b;
    const std::string s = GraphBuilder::batch().expression;
    const ValueRef x = b.input("x", GraphBuilder::batchOf({6}));
    const ValueRef y = b.input("y", GraphBuilder::batchOf({6}));
    const ValueRef offset = b.buffer("offset", random({6}, 5), true);
    const ValueRef order = b.buffer("order", at::tensor({5, 0, 3}, at::kLong), false);
    const ValueRef scales = b.held("scales", random({6}, 6).abs() + 0.01, NodeKind::Constant);
    const ValueRef zeros = b.held("zeros", at::arange(6, at::kLong), NodeKind::Constant);
    const auto row = GraphBuilder::batchOf({6});
    const ValueRef n = b.symbol("aten.sym_size.int", {{"self", x}, {"dim", 0}}, s);
    const ValueRef twiceN
        = b.symbol("_operator.mul", {{"a", n}, {"b", 2}}, "Mul(Integer(2), " + s + ")");
    const ValueRef half = b.symbol("_operator.floordiv", {{"a", twiceN}, {"b", 2}}, s);
    const ValueRef shifted = b.op("aten.add.Tensor", {{"self", x}, {"other", offset}}, row);
    const ValueRef doubled = b.op("aten.mul.Tensor", {{"self", shifted}, {"other", 2.5}}, row);
    const ValueRef picked = b.op(
        "aten.index.Tensor", {{"self", doubled}, {"indices", Argument::List {Argument(), order}}},
        GraphBuilder::batchOf({3}));
    const ValueRef joined
        = b.op("aten.cat.default", {{"tensors", Argument::List {picked, y}}, {"dim", 1}},
               GraphBuilder::batchOf({9}));
    const NodeId top = b.many("aten.max.dim", {{"self", joined}, {"dim", 1}},
                              {GraphBuilder::batchOf({}), GraphBuilder::batchOf({}, DType::Int64)});
    const ValueRef wide
        = b.op("aten.to.dtype", {{"self", ValueRef {top, 0}}, {"dtype", DType::Float64}},
               GraphBuilder::batchOf({}, DType::Float64));
    ValueType channels = row;
    channels.dtype = DType::Int8;
    std::vector<NamedArgument> rest {{"scales", scales}, {"zero_points", zeros},
                                     {"axis", 1},        {"quant_min", -127},
                                     {"quant_max", 127}, {"dtype", DType::Int8}};
    std::vector<NamedArgument> first {{"input", y}};
    first.insert(first.end(), rest.begin(), rest.end());
    const ValueRef perChannel
        = b.op("quantized_decomposed.quantize_per_channel.default", first, channels);
    std::vector<NamedArgument> second {{"input", perChannel}};
    second.insert(second.end(), rest.begin(), rest.end());
    const ValueRef back = b.op("quantized_decomposed.dequantize_per_channel.default", second, row);
    const ValueRef counted = b.op(
        "aten.arange.default",
        {{"end", half}, {"dtype", DType::Float32}, {"device", Device {}}, {"pin_memory", false}},
        GraphBuilder::batchOf({}));
    const ValueRef wall
        = b.op("aten.clamp.default", {{"self", back}, {"min", -1}, {"max", Argument()}}, row);
    b.info().exportRecord = kRanges;
    b.info().outputTree = spec(container("builtins.list", "null", {kLeaf, kLeaf, kLeaf, kLeaf}));
    Sample sample;
    sample.graph = b.finish({wide, ValueRef {top, 1}, wall, counted});
    sample.structure = "['T', 'T', 'T', 'T']";
    sample.call = [](int n) {
        const at::IValue x = random({n, 6}, 30 + n), y = random({n, 6}, 31 + n);
        return Sample::Call {tuple({x, y}), strings({}), {x, y}};
    };
    return sample;
}

/// A value changed in place through a view, kept together as one region.
Sample regionSample()
{
    const auto row = GraphBuilder::batchOf({6});
    GraphBuilder inner;
    const ValueRef base = inner.input("base", row);
    const ValueRef by = inner.input("by", GraphBuilder::batchOf({3}));
    const ValueRef part
        = inner.op("aten.slice.Tensor", {{"self", base}, {"dim", 1}, {"start", 1}, {"end", 4}},
                   GraphBuilder::batchOf({3}));
    inner.op("aten.add_.Tensor", {{"self", part}, {"other", by}}, GraphBuilder::batchOf({3}));
    const GraphPtr body = inner.finish({base});

    GraphBuilder b;
    const ValueRef x = b.input("x", row);
    const ValueRef y = b.input("y", GraphBuilder::batchOf({3}));
    const ValueRef half = b.op("aten.mul.Tensor", {{"self", x}, {"other", 0.5}}, row);
    const ValueRef region
        = b.op(std::string(kRegionTarget),
               {{"operands", Argument::List {half, y}}, {"written", Argument::List {0}}}, row);
    b.edit().change(region.node).subgraphs.push_back(body);
    b.edit().change(region.node).opaqueReason = "changes values in place";
    const ValueRef sum = b.op("aten.add.Tensor", {{"self", region}, {"other", half}}, row);
    Sample sample;
    sample.graph = b.finish({sum, half});
    sample.structure = "('T', 'T')";
    sample.call = [](int n) {
        const at::IValue x = random({n, 6}, 50 + n), y = random({n, 3}, 51 + n);
        return Sample::Call {tuple({x, y}), strings({}), {x, y}};
    };
    return sample;
}

} // namespace qs
