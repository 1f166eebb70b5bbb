// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/products/weight_terms.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

namespace qs {

namespace {

at::Tensor columnOf(const at::Tensor& scales, const at::Tensor& like)
{
    std::vector<std::int64_t> shape(std::size_t(like.dim()), 1);
    shape[0] = scales.numel();
    return scales.reshape(shape);
}

at::Tensor valueOf(const WeightTerm& term)
{
    return term.integers.to(at::kDouble) * columnOf(term.scales.to(at::kDouble), term.integers);
}

/// Symmetric, by channel; `weight` in double.
WeightTerm roundToTerm(const at::Tensor& weight)
{
    const at::Tensor largest = weight.flatten(1).abs().amax(1);
    WeightTerm term;
    // A channel of zeros, or of numbers that a float scale cannot reach, has zeros at any scale.
    term.scales = (largest / 127.0).to(at::kFloat).clamp_min(std::numeric_limits<float>::min());
    term.integers = (weight / columnOf(term.scales.to(at::kDouble), weight))
                        .round_()
                        .clamp_(-127, 127)
                        .to(at::kChar);
    return term;
}

/// Some channels of a weight, which stay within a few megabytes once they are doubles.
struct Block
{
    std::int64_t first, count;
    at::Tensor of(const at::Tensor& tensor) const { return tensor.narrow(0, first, count); }
    WeightTerm of(const WeightTerm& term) const { return {of(term.integers), of(term.scales)}; }
};

std::vector<Block> blocksOf(const at::Tensor& weight)
{
    constexpr std::int64_t kElements = 1 << 20;
    const std::int64_t channels = weight.size(0);
    const std::int64_t each = std::max<std::int64_t>(weight.numel() / channels, 1);
    const std::int64_t step = std::max<std::int64_t>(kElements / each, 1);
    std::vector<Block> blocks;
    for (std::int64_t first = 0; first < channels; first += step)
        blocks.push_back({first, std::min(step, channels - first)});
    return blocks;
}

WeightTerm emptyTerm(const at::Tensor& weight)
{
    return {at::empty_like(weight, weight.options().dtype(at::kChar)),
            at::empty({weight.size(0)}, weight.options().dtype(at::kFloat))};
}

void put(const WeightTerm& made, const Block& block, WeightTerm& into)
{
    block.of(into.integers).copy_(made.integers);
    block.of(into.scales).copy_(made.scales);
}

} // namespace

std::vector<WeightTerm> splitWeight(const at::Tensor& weight)
{
    if (weight.numel() == 0)
        return {};
    const std::vector<Block> blocks = blocksOf(weight);
    std::vector<WeightTerm> terms {emptyTerm(weight)};
    bool isExact = true;
    for (const Block& block : blocks) {
        const at::Tensor given = block.of(weight);
        const at::Tensor exact = given.to(at::kDouble);
        if (!at::isfinite(exact).all().item<bool>())
            return {};
        const WeightTerm made = roundToTerm(exact);
        // What a float cannot tell from the first term is its rounding.
        isExact = isExact && valueOf(made).to(weight.scalar_type()).equal(given);
        put(made, block, terms[0]);
    }
    if (isExact)
        return terms;
    terms.push_back(emptyTerm(weight));
    for (const Block& block : blocks)
        put(roundToTerm(block.of(weight).to(at::kDouble).sub_(valueOf(block.of(terms[0])))), block,
            terms[1]);
    return terms;
}

} // namespace qs
