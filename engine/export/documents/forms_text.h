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
/// "0.0079", rounded up: 0 means equal. "not finite".
std::string stepsText(double steps);

/// SQNR between the outputs of both forms, in dB: that of the worst output. Empty without a
/// measured output.
std::optional<double> outputsApart(const Comparison& comparison);

/// The reference and the lowered form compared, in sentences: the SQNR of the outputs; the first
/// node that differs by more than one step; the first node where one form is nearer to the float
/// model. Each node with the error that its kernel alone adds. Empty without departures.
/// `converted`: null where its checks are not known.
std::vector<std::string> formsLines(const Graph& model, const Comparison& comparison,
                                    const ConvertedModel* converted);

} // namespace qs
