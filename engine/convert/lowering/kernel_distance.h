// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/execute/steps/count_steps.h"

#include <string>

namespace qs {

inline constexpr double kAllowedSteps = 1; ///< of a kernel from the reference form

/// How far a kernel is from the reference form's result, and at most from what it is held to.
struct Distance
{
    StepCounts steps;
    double held = steps.largest;

    void add(const Distance& other);
};

/// With a number the kernel chooses its result's parameters itself, where torch.ao's reference form
/// has the input's, which may cut the result (twice a sigmoid). Such a kernel that comes closer to
/// the float result than the reference form is held to that one, in steps of its own.
Distance ownGridDistance(const at::Tensor& made, const GridValues& wanted, const at::Tensor& real);

/// Of a kernel that is followed step by step only the largest difference is known.
Distance atMost(double largest);

/// With as many digits as tell it from what is allowed.
std::string heldSteps(double steps);

} // namespace qs
