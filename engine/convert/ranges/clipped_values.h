// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observations.h"
#include "engine/convert/qparams.h"

namespace qs {

/// Values that calibration saw well outside the range of their fixed parameters, one sentence a
/// value. As in torch.ao, an operator with fixed parameters (sigmoid, tanh) gives them to an input
/// that no other operator quantizes, such as the result of a layer that a rule keeps float.
std::vector<std::string> clippedValues(const Graph& model, const Plan& plan,
                                       const Observations& observations,
                                       const QParamsTable& qparams);

} // namespace qs
