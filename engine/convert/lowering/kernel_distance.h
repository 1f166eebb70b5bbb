// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/execute/steps/count_steps.h"

#include <string>

namespace qs {

inline constexpr double kAllowedSteps = 1; ///< largest difference of a kernel that passes

/// Differences of a kernel from the reference form's result, and the largest difference from its
/// required result (`held`).
struct Distance
{
    StepCounts steps;
    double held = steps.largest;

    void add(const Distance& other);
};

/// Differences of a kernel for a sum or product with a number, which chooses its result's
/// parameters itself. torch.ao's reference form uses the input's parameters, which may clip the
/// result (twice a sigmoid). A kernel that is closer to the float result `real` than the reference
/// form is measured against that result, in steps of the kernel's parameters.
Distance ownGridDistance(const at::Tensor& made, const GridValues& wanted, const at::Tensor& real);

/// A distance of which only the largest difference is known, as for kernels checked step by step.
Distance atMost(double largest);

/// Text with enough digits to distinguish it from the allowed number.
std::string heldSteps(double steps);

} // namespace qs
