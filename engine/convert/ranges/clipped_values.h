// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observations.h"
#include "engine/convert/qparams.h"

namespace qs {

/// Returns one sentence for each value that calibration observed clearly outside the range of its
/// fixed parameters. As in torch.ao, an operator with fixed parameters (sigmoid, tanh) applies them
/// to an input that no other operator quantizes, such as the result of a layer that a rule keeps
/// float.
std::vector<std::string> clippedValues(const Graph& model, const Plan& plan,
                                       const Observations& observations,
                                       const QParamsTable& qparams);

} // namespace qs
