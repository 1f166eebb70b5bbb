// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/integer_products.h"

#include "engine/base/log.h"
#include "engine/base/torch_guard.h"
#include "engine/execute/op_table.h"
#include "engine/execute/value_conversion.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

/// Beyond this many summands 32 bits might not hold the sum.
constexpr std::int64_t kMostSummands = 65'000;
/// Below this many summands bytes are no faster than floats: one term of them, and two.
constexpr std::int64_t kFewestSummands = 32, kFewestOfTwoTerms = 64;
/// Nor are convolutions by groups of fewer channels.
constexpr std::int64_t kFewestOfAGroup = 8;
/// Below this many multiplications a batch a packed weight and a kernel of its own are not worth
/// their memory.
constexpr std::int64_t kFewestMultiplications = 32'000'000;
/// What a checked product may be off its float operator, which itself is about 130 dB off the exact
/// sum; two terms of eight bits are 90 to 98.
constexpr double kTrustedDb = 80;
/// How many rows of a linear are checked; of a convolution it is one image.
constexpr std::int64_t kCheckedRows = 64;

Result<at::IValue> argumentOf(const Node& node, const c10::FunctionSchema& schema, const char* name)
{
    const auto index = schema.argumentIndexWithName(name);
    if (!index)
        return fail(ErrorCode::Internal, std::string("no argument ") + name);
    const c10::Argument& slot = schema.arguments()[std::size_t(*index)];
    const Argument* given = node.tryArg(name);
    if (!given)
        return *slot.default_value();
    return convertArgument(*given, slot, at::kCPU, [](ValueRef) -> Result<at::IValue> {
        return fail(ErrorCode::Internal, "a geometry that is computed");
    });
}

Result<ConvGeometry> geometryOf(const Node& node)
{
    const auto op = findOperator(node.target);
    const auto list = [&](const char* name) -> Result<std::vector<std::int64_t>> {
        QS_TRY(const at::IValue value, argumentOf(node, op->schema(), name));
        const std::vector<std::int64_t> numbers = value.toIntVector();
        return numbers.size() == 1 ? std::vector<std::int64_t>(2, numbers[0]) : numbers;
    };
    ConvGeometry geometry;
    QS_TRY(geometry.stride, list("stride"));
    QS_TRY(geometry.padding, list("padding"));
    QS_TRY(geometry.dilation, list("dilation"));
    QS_TRY(const at::IValue groups, argumentOf(node, op->schema(), "groups"));
    geometry.groups = groups.toInt();
    return geometry;
}

bool agrees(const at::Tensor& made, const at::Tensor& wanted)
{
    const double noise = (made - wanted).norm().item<double>();
    const double signal = wanted.norm().item<double>();
    return noise <= signal * std::pow(10.0, -kTrustedDb / 20);
}

/// Whether bytes are faster, and 32 bits enough.
bool isWorthBytes(const GridProduct& product, const at::Tensor& weight, const at::Tensor& input,
                  const std::optional<ConvGeometry>& geometry)
{
    const std::int64_t channels = weight.numel() > 0 ? weight.size(0) : 1;
    const std::int64_t summands = weight.numel() / channels;
    std::int64_t places = input.numel() / input.size(geometry ? 1 : -1);
    if (geometry && geometry->groups > 1 && weight.size(1) < kFewestOfAGroup)
        return false;
    if (geometry)
        for (const std::int64_t step : geometry->stride)
            places /= step;
    return summands >= (product.stored ? kFewestSummands : kFewestOfTwoTerms)
        && summands <= kMostSummands && places * weight.numel() >= kFewestMultiplications;
}

/// The part of a product's input or result that is checked.
at::Tensor checkedPart(const at::Tensor& x, bool isImage)
{
    if (isImage)
        return x.narrow(0, 0, 1);
    const at::Tensor rows = x.reshape({-1, x.size(-1)});
    return rows.narrow(0, 0, std::min(rows.size(0), kCheckedRows));
}

} // namespace

IntegerProducts::IntegerProducts(Interpreter constants)
    : m_constants(std::move(constants))
{
}

Result<IntegerProducts>
IntegerProducts::create(GraphPtr graph, const std::vector<GridProduct>& products, Layout layout)
{
    QS_TRY(Interpreter constants, Interpreter::create(std::move(graph)));
    IntegerProducts made(std::move(constants));
    for (const GridProduct& product : products) {
        // Byte kernels make channels-last images: elsewhere strides would not be those expected.
        const bool fits = !product.isConvolution || layout == Layout::ChannelsLast;
        if (fits && made.m_constants.isConstant(product.weight))
            made.m_states[product.node].product = product;
    }
    return made;
}

bool IntegerProducts::run(const Node& node, Frame& frame)
{
    const auto found = m_states.find(node.id);
    if (found == m_states.end() || found->second.left)
        return false;
    State& state = found->second;
    const at::IValue* value = frame.tryGet(state.product.input);
    const bool isTensor = value && value->isTensor() && value->toTensor().defined();
    if (!isTensor || frame.has(state.product.weight))
        return false;
    const at::Tensor input = value->toTensor();
    auto ran = guardTorchValue<bool>([&] { return runTrusted(state, node, input, frame); });
    if (ran)
        return *ran;
    note("node '" + node.name + "' is compared over floats, not integers: " + ran.error().message);
    state.packed.reset();
    state.left = true;
    return false;
}

Result<bool> IntegerProducts::runTrusted(State& state, const Node& node, const at::Tensor& input,
                                         Frame& frame)
{
    const GridProduct& product = state.product;
    const std::int64_t wantedRank
        = product.isConvolution ? 4 : std::max<std::int64_t>(2, input.dim());
    if (input.dim() != wantedRank)
        return false;
    at::Tensor integers = integersOf(input, product.grid);
    if (!integers.defined())
        return false;
    if (!product.isConvolution)
        integers = integers.contiguous();
    QS_TRY(const at::Tensor bias, biasOf(product, frame));
    at::Tensor made;
    if (state.packed) {
        made = state.packed->run(integers, bias);
    } else {
        QS_TRY(made, runFirst(state, node, input, integers, bias));
    }
    if (!made.defined())
        return false;
    frame.set({node.id, 0}, std::move(made));
    return true;
}

/// Undefined where the product is left, or these values say nothing about its kernel.
Result<at::Tensor> IntegerProducts::runFirst(State& state, const Node& node,
                                             const at::Tensor& input, const at::Tensor& integers,
                                             const at::Tensor& bias) const
{
    const GridProduct& product = state.product;
    QS_TRY(const at::Tensor weight, constant(product.weight));
    std::optional<ConvGeometry> geometry;
    if (product.isConvolution) {
        QS_TRY(geometry, geometryOf(node));
    }
    state.left
        = weight.scalar_type() != at::kFloat || !isWorthBytes(product, weight, integers, geometry);
    if (state.left)
        return at::Tensor();
    QS_TRY(const std::vector<WeightTerm> terms, termsOf(product, weight));
    state.left = terms.empty();
    const at::Tensor part = checkedPart(input, product.isConvolution);
    if (state.left || part.min().equal(part.max()))
        return at::Tensor();
    PackedProduct packed(terms, geometry, product.grid, integers.sizes());
    const at::Tensor made = packed.run(integers, bias);
    const at::Tensor wanted = geometry
        ? at::conv2d(part, weight, bias, geometry->stride, geometry->padding, geometry->dilation,
                     geometry->groups)
        : at::linear(part, weight, bias);
    if (!agrees(checkedPart(made, product.isConvolution), wanted))
        return fail(ErrorCode::Numeric, "the processor's kernel gives another result");
    state.packed = std::move(packed);
    return made;
}

Result<at::Tensor> IntegerProducts::biasOf(const GridProduct& product, const Frame& frame) const
{
    if (!product.bias)
        return at::Tensor();
    if (const at::IValue* alive = frame.tryGet(product.bias))
        return alive->toTensor();
    QS_TRY(const at::IValue bias, m_constants.constant(product.bias));
    return bias.toTensor();
}

Result<at::Tensor> IntegerProducts::constant(ValueRef ref) const
{
    QS_TRY(const at::IValue value, m_constants.computeConstant(ref));
    return value.toTensor();
}

/// Empty where eight bits cannot hold the weight.
Result<std::vector<WeightTerm>> IntegerProducts::termsOf(const GridProduct& product,
                                                         const at::Tensor& weight) const
{
    if (!product.stored)
        return splitWeight(weight);
    const StoredWeight& stored = *product.stored;
    WeightTerm term;
    QS_TRY(term.integers, constant(stored.integers));
    term.scales = at::full({1}, stored.scale, at::kFloat);
    if (stored.scales) {
        QS_TRY(term.scales, constant(stored.scales));
        QS_TRY(const at::Tensor zeroPoints, constant(stored.zeroPoints));
        if (zeroPoints.count_nonzero().item<std::int64_t>() != 0)
            return std::vector<WeightTerm>();
    }
    return std::vector<WeightTerm> {term};
}

} // namespace qs
