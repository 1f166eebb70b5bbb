// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/steps/count_steps.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

namespace qs {

namespace {

constexpr double kFloatSteps = 255; ///< steps of the grid by which float results are measured
constexpr int kReach = StepCounts::kReach;

/// Both tensors with the same memory order.
std::pair<at::Tensor, at::Tensor> inOneOrder(const at::Tensor& a, const at::Tensor& b)
{
    if (a.strides() == b.strides() && a.is_non_overlapping_and_dense())
        return {a, b};
    return {a.contiguous(), b.contiguous()};
}

/// Counts differences -255 to 255 one by one: a table is faster than a branch.
template<class T>
StepCounts countBytes(const at::Tensor& made, const at::Tensor& wanted)
{
    constexpr int kMost = 255;
    std::array<std::int64_t, 2 * kMost + 1> found {};
    std::int64_t* const apartBy = found.data() + kMost;
    const auto [a, b] = inOneOrder(made, wanted);
    const T *left = a.const_data_ptr<T>(), *right = b.const_data_ptr<T>();
    const std::int64_t size = a.numel();
    for (std::int64_t i = 0; i < size; ++i)
        ++apartBy[int(left[i]) - int(right[i])];
    StepCounts counts;
    counts.count = size;
    for (int apart = -kMost; apart <= kMost; ++apart) {
        const std::int64_t n = apartBy[apart];
        counts.apartBy(std::clamp(apart, -kReach, kReach)) += n;
        counts.sum += double(n) * std::abs(apart);
        if (n > 0)
            counts.largest = std::max(counts.largest, double(std::abs(apart)));
    }
    return counts;
}

StepCounts countDoubles(const at::Tensor& steps)
{
    StepCounts counts;
    const at::Tensor flat = steps.contiguous();
    const double* values = flat.const_data_ptr<double>();
    counts.count = flat.numel();
    for (std::int64_t i = 0; i < counts.count; ++i) {
        const double value
            = std::isnan(values[i]) ? std::numeric_limits<double>::infinity() : values[i];
        ++counts.apartBy(int(std::lround(std::clamp(value, -double(kReach), double(kReach)))));
        counts.sum += std::abs(value);
        counts.largest = std::max(counts.largest, std::abs(value));
    }
    return counts;
}

at::Tensor realValues(const at::Tensor& tensor)
{
    return (tensor.is_quantized() ? tensor.dequantize() : tensor).to(at::kDouble);
}

} // namespace

at::Tensor onGridOf(const at::Tensor& grid, const at::Tensor& values)
{
    return at::quantize_per_tensor(values.contiguous(), grid.q_scale(), grid.q_zero_point(),
                                   grid.scalar_type());
}

StepCounts countSteps(const at::Tensor& made, const GridValues& wanted)
{
    const bool sameGrid = made.is_quantized() && made.qscheme() == at::kPerTensorAffine
        && made.q_scale() == wanted.scale && made.q_zero_point() == wanted.zeroPoint;
    if (sameGrid) {
        const at::Tensor integers = made.int_repr();
        const bool oneType = integers.scalar_type() == wanted.integers.scalar_type();
        if (oneType && integers.scalar_type() == at::kByte)
            return countBytes<std::uint8_t>(integers, wanted.integers);
        if (oneType && integers.scalar_type() == at::kChar)
            return countBytes<std::int8_t>(integers, wanted.integers);
        return countDoubles(integers.to(at::kDouble) - wanted.integers.to(at::kDouble));
    }
    const at::Tensor grid
        = (wanted.integers.to(at::kDouble) - double(wanted.zeroPoint)) * wanted.scale;
    return countDoubles((realValues(made) - grid) / wanted.scale);
}

StepCounts countSteps(const at::Tensor& made, const at::Tensor& wanted)
{
    return countSteps(made,
                      GridValues {wanted.int_repr(), wanted.q_scale(), wanted.q_zero_point()});
}

StepCounts countFloatSteps(const at::Tensor& made, const at::Tensor& wanted)
{
    const at::Tensor real = wanted.to(at::kDouble);
    const double range
        = std::max(real.max().item<double>(), 0.0) - std::min(real.min().item<double>(), 0.0);
    return countDoubles((realValues(made) - real) / std::max(range / kFloatSteps, 1e-12));
}

StepCounts countOwnSteps(const at::Tensor& made, const at::Tensor& wanted)
{
    return countDoubles((realValues(made) - wanted.to(at::kDouble)) / made.q_scale());
}

} // namespace qs
