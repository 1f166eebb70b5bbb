// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/compare/comparison.h"
#include "engine/convert/converted_model.h"

#include <optional>
#include <string>
#include <vector>

namespace qs {

/// Share of equal elements, for example "99.956 %". Rounded down: "100.000 %" only if all are
/// equal.
std::string shareText(const StepCounts& steps);
/// A difference in quantization steps, for example "0.0079", or "not finite". Rounded up: "0" only
/// if the values are equal.
std::string stepsText(double steps);

/// SQNR between the outputs of both forms, in dB, for the worst output. Empty if no output was
/// measured.
std::optional<double> outputsApart(const Comparison& comparison);

/// Compares the reference and the lowered form in sentences: the SQNR of the outputs; the first
/// node that differs by more than one step; the first node where one form is closer to the float
/// model. Each node is followed by the error that its kernel alone adds, unless `converted` is null
/// (kernel checks not known). Empty if the comparison has no departures.
std::vector<std::string> formsLines(const Graph& model, const Comparison& comparison,
                                    const ConvertedModel* converted);

} // namespace qs
