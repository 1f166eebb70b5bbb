// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/execute/steps/count_steps.h"

#include <string>

namespace qs {

inline constexpr double kAllowedSteps = 1; ///< of a kernel from the reference form

/// How far a kernel is from the reference form's result, and at most from its required result.
struct Distance
{
    StepCounts steps;
    double held = steps.largest;

    void add(const Distance& other);
};

/// With a number the kernel chooses its result's parameters itself, where torch.ao's reference form
/// has the input's, which may cut the result (twice a sigmoid). A kernel closer to the float result
/// than the reference form is measured against that result, in its own steps.
Distance ownGridDistance(const at::Tensor& made, const GridValues& wanted, const at::Tensor& real);

/// Of a kernel that is followed step by step only the largest difference is known.
Distance atMost(double largest);

/// Text with enough digits to distinguish it from the allowed number.
std::string heldSteps(double steps);

} // namespace qs
