// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace qs {

/// How far an output of both forms is from the float model's, in dB, over so many values.
struct FormErrors
{
    double referenceDb = 0, loweredDb = 0;
    std::int64_t values = 0;
};

/// Whether the lowered form loses what the reference form does not: more than 1 dB, of few values
/// more than chance does (three standard deviations of the ratio of two noises). Beyond 90 dB
/// nothing counts: floats added in another order are no closer.
bool losesMore(const FormErrors& errors);

/// "12.3 dB", or "exact".
std::string dbText(double db);

/// The loss in one line, with what to do.
std::string lossText(const std::string& output, const FormErrors& errors);

} // namespace qs
