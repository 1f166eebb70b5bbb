// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/compare/comparison.h"
#include "engine/convert/converted_model.h"

#include <optional>
#include <string>
#include <vector>

namespace qs {

/// "99.956 %" of the elements are equal, rounded down: 100 % is all of them.
std::string shareText(const StepCounts& steps);
/// "0.0079", rounded up: 0 is none. "not finite".
std::string stepsText(double steps);

/// How far the outputs of both forms are apart, in dB: the farthest. Empty where none is measured.
std::optional<double> outputsApart(const Comparison& comparison);

/// Simulated and real in sentences: how far the lowered form, run whole, is from the reference
/// form; the first node more than one step apart, and the first where one form is nearer to the
/// float model, each with what its kernel alone adds. Empty without departures. `converted`: null
/// where its checks are not known.
std::vector<std::string> formsLines(const Graph& model, const Comparison& comparison,
                                    const ConvertedModel* converted);

} // namespace qs
