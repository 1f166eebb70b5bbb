// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observations.h"
#include "engine/convert/qparams.h"

namespace qs {

/// Values that a calibration saw well outside of what their fixed parameters hold, one sentence a
/// value. As in torch.ao, an operator with fixed parameters (sigmoid, tanh) gives them to an input
/// that nobody else quantizes, such as a layer's that a rule keeps float.
std::vector<std::string> clippedValues(const Graph& model, const Plan& plan,
                                       const Observations& observations,
                                       const QParamsTable& qparams);

} // namespace qs
