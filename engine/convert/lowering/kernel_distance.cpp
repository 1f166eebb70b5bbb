// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/lowering/kernel_distance.h"

#include "engine/base/text.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <string>

namespace qs {

namespace {

double largest(const at::Tensor& a, const at::Tensor& b)
{
    return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

} // namespace

void Distance::add(const Distance& other)
{
    steps.add(other.steps);
    held = std::max(held, other.held);
}

Distance ownGridDistance(const at::Tensor& made, const GridValues& wanted, const at::Tensor& real)
{
    Distance found {countSteps(made, wanted)};
    if (found.held <= kAllowedSteps || !made.is_quantized())
        return found;
    const at::Tensor grid
        = (wanted.integers.to(at::kDouble) - double(wanted.zeroPoint)) * wanted.scale;
    if (largest(made.dequantize(), real) < largest(grid, real))
        found.held = countOwnSteps(made, real).largest;
    return found;
}

Distance atMost(double largest)
{
    StepCounts steps;
    steps.largest = largest;
    return {steps};
}

std::string heldSteps(double steps)
{
    int digits = 4;
    while (steps > kAllowedSteps && digits < 17
           && std::stod(numberText(steps, digits)) <= kAllowedSteps)
        ++digits;
    return numberText(steps, digits);
}

} // namespace qs
