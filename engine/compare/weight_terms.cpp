// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/weight_terms.h"

#include <ATen/ATen.h>

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
    const at::Tensor largest = weight.abs().flatten(1).amax(1);
    WeightTerm term;
    // A channel of zeros, or of numbers that a float scale cannot reach, has zeros at any scale.
    term.scales = (largest / 127.0).to(at::kFloat).clamp_min(std::numeric_limits<float>::min());
    term.integers = (weight / columnOf(term.scales.to(at::kDouble), weight))
                        .round()
                        .clamp(-127, 127)
                        .to(at::kChar);
    return term;
}

} // namespace

std::vector<WeightTerm> splitWeight(const at::Tensor& weight)
{
    if (!at::isfinite(weight).all().item<bool>())
        return {};
    const at::Tensor exact = weight.to(at::kDouble);
    std::vector<WeightTerm> terms {roundToTerm(exact)};
    const at::Tensor first = valueOf(terms[0]);
    // What a float cannot tell from the first term is its rounding.
    if (!first.to(weight.scalar_type()).equal(weight))
        terms.push_back(roundToTerm(exact - first));
    return terms;
}

} // namespace qs
