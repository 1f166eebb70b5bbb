// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/products/integer_products.h"

#include "engine/base/log.h"
#include "engine/base/torch_guard.h"
#include "engine/compare/metrics/metrics.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <bit>

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
/// Two terms of a larger float weight, in bytes, are not worth their memory, half of the weight's
/// once more: it is multiplied as it is.
constexpr std::size_t kLargestOfTwoTerms = std::size_t(48) << 20;
/// What a checked product may be off its float operator, 80 dB as noise over signal: the operator
/// itself is about 130 dB off the exact sum, two terms of eight bits are 90 to 98.
constexpr double kTrusted = 1e-8;
/// How many rows of a linear are checked; of a convolution it is one image.
constexpr std::int64_t kCheckedRows = 64;

Result<bool> agrees(const at::Tensor& made, const at::Tensor& wanted)
{
    ErrorSums sums;
    QS_CHECK(addError(sums, wanted, made));
    return sums.noise2 <= sums.signal2 * kTrusted;
}

/// Whether bytes are faster, and 32 bits enough.
bool isWorthBytes(const GridProduct& product, const at::Tensor& weight, const at::Tensor& input)
{
    const auto& geometry = product.geometry;
    if (weight.numel() == 0 || input.numel() == 0)
        return false;
    if (!product.stored && weight.nbytes() > kLargestOfTwoTerms)
        return false;
    const std::int64_t summands = weight.numel() / weight.size(0);
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

Result<at::Tensor> constantOf(const Interpreter& interpreter, ValueRef ref)
{
    QS_TRY(const at::IValue value, interpreter.computeConstant(ref));
    return value.toTensor();
}

Result<at::Tensor> biasOf(const GridProduct& product, const Interpreter& interpreter,
                          const Frame& frame)
{
    if (!product.bias)
        return at::Tensor();
    if (const at::IValue* alive = frame.tryGet(product.bias))
        return alive->toTensor();
    QS_TRY(const at::IValue bias, interpreter.constant(product.bias));
    return bias.toTensor();
}

/// Empty where eight bits cannot hold the weight.
Result<std::vector<WeightTerm>> termsOf(const GridProduct& product, const at::Tensor& weight,
                                        const Interpreter& interpreter)
{
    if (!product.stored)
        return splitWeight(weight);
    const StoredWeight& stored = *product.stored;
    WeightTerm term;
    QS_TRY(term.integers, constantOf(interpreter, stored.integers));
    if (!stored.scales) {
        term.scales = at::full({1}, stored.scale, at::kFloat);
        return std::vector<WeightTerm> {term};
    }
    QS_TRY(term.scales, constantOf(interpreter, stored.scales));
    QS_TRY(const at::Tensor zeroPoints, constantOf(interpreter, stored.zeroPoints));
    if (zeroPoints.count_nonzero().item<std::int64_t>() != 0)
        return std::vector<WeightTerm>();
    return std::vector<WeightTerm> {term};
}

} // namespace

IntegerProducts::IntegerProducts(const std::vector<GridProduct>& products,
                                 std::optional<KeptPacks> kept)
    : m_kept(std::move(kept))
{
    for (const GridProduct& product : products)
        m_states[product.node].product = product;
}

Key IntegerProducts::packKey(const GridProduct& product, at::IntArrayRef inputShape) const
{
    KeyBuilder key("packed product");
    key.add(m_kept->keyOf(product));
    key.add(std::int64_t(std::bit_cast<std::int32_t>(product.grid.scale)));
    key.add(std::int64_t(product.grid.zeroPoint));
    const auto addSizes = [&key](at::IntArrayRef sizes) {
        key.add(std::int64_t(sizes.size()));
        for (const std::int64_t size : sizes)
            key.add(size);
    };
    addSizes(inputShape);
    if (const auto& geometry = product.geometry) {
        addSizes(geometry->stride);
        addSizes(geometry->padding);
        addSizes(geometry->dilation);
        key.add(geometry->groups);
    }
    return key.key();
}

void IntegerProducts::keepPack(const GridProduct& product, at::IntArrayRef inputShape,
                               std::shared_ptr<const PackedProduct> packed, std::size_t bytes)
{
    if (m_kept)
        m_kept->memo.keep<KeptPack>(packKey(product, inputShape),
                                    std::make_shared<const KeptPack>(KeptPack {std::move(packed)}),
                                    bytes + sizeof(KeptPack));
}

bool IntegerProducts::run(const Interpreter& interpreter, const Node& node, Frame& frame)
{
    const auto found = m_states.find(node.id);
    if (found == m_states.end() || found->second.left)
        return false;
    State& state = found->second;
    const GridProduct& product = state.product;
    // Byte kernels make channels-last images: elsewhere strides would not be those expected.
    const bool fits = !product.geometry || interpreter.layout() == Layout::ChannelsLast;
    const at::IValue* value = frame.tryGet(product.input);
    const bool isTensor = value && value->isTensor() && value->toTensor().defined();
    if (!fits || !interpreter.isConstant(product.weight) || !isTensor || frame.has(product.weight))
        return false;
    const at::Tensor input = value->toTensor();
    const auto made
        = guardTorchValue<at::Tensor>([&] { return result(state, interpreter, input, frame); });
    if (!made) {
        note("node '" + node.name
             + "' is compared over floats, not integers: " + made.error().message);
        state.packed.reset();
        state.left = true;
        return false;
    }
    if (!made->defined())
        return false;
    frame.set({node.id, 0}, *made);
    return true;
}

Result<at::Tensor> IntegerProducts::result(State& state, const Interpreter& interpreter,
                                           const at::Tensor& input, const Frame& frame)
{
    const GridProduct& product = state.product;
    const std::int64_t wantedRank = product.geometry ? 4 : std::max<std::int64_t>(2, input.dim());
    if (input.dim() != wantedRank)
        return at::Tensor();
    if (!state.packed && m_kept)
        if (const auto kept = m_kept->memo.find<KeptPack>(packKey(product, input.sizes()))) {
            state.packed = kept->packed;
            state.left = !kept->packed;
            if (state.left)
                return at::Tensor();
        }
    at::Tensor integers = integersOf(input, product.grid);
    if (!integers.defined())
        return at::Tensor();
    if (!product.geometry)
        integers = integers.contiguous();
    QS_TRY(const at::Tensor bias, biasOf(product, interpreter, frame));
    return state.packed ? state.packed->run(integers, bias)
                        : firstResult(state, interpreter, input, integers, bias);
}

Result<at::Tensor> IntegerProducts::firstResult(State& state, const Interpreter& interpreter,
                                                const at::Tensor& input, const at::Tensor& integers,
                                                const at::Tensor& bias)
{
    const GridProduct& product = state.product;
    const auto& geometry = product.geometry;
    const at::Tensor part = checkedPart(input, geometry.has_value());
    if (part.min().equal(part.max())) // checks nothing; another batch may
        return at::Tensor();
    QS_TRY(const at::Tensor weight, constantOf(interpreter, product.weight));
    std::vector<WeightTerm> terms;
    if (weight.scalar_type() == at::kFloat && isWorthBytes(product, weight, integers)) {
        QS_TRY(terms, termsOf(product, weight, interpreter));
    }
    state.left = terms.empty();
    if (state.left) {
        keepPack(product, input.sizes(), {}, 0);
        return at::Tensor();
    }
    const auto packed = std::make_shared<const PackedProduct>(terms, product, integers.sizes());
    const at::Tensor made = packed->run(integers, bias);
    const at::Tensor wanted = geometry
        ? at::conv2d(part, weight, bias, geometry->stride, geometry->padding, geometry->dilation,
                     geometry->groups)
        : at::linear(part, weight, bias);
    QS_TRY(const bool trusted, agrees(checkedPart(made, geometry.has_value()), wanted));
    if (!trusted)
        return fail(ErrorCode::Numeric, "the processor's kernel gives another result");
    state.packed = packed;
    keepPack(product, input.sizes(), packed, terms.size() * std::size_t(weight.numel()));
    return made;
}

Substitute byteProducts(const std::vector<GridProduct>& products, std::optional<KeptPacks> kept)
{
    if (products.empty())
        return {};
    const auto made = std::make_shared<IntegerProducts>(products, std::move(kept));
    return [made](const Interpreter& running, const Node& node, Frame& frame) {
        return made->run(running, node, frame);
    };
}

} // namespace qs
