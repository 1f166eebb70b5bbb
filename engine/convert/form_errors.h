// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace qs {

/// SQNR of an output of both forms against the float model, in dB, over a number of values.
struct FormErrors
{
    double referenceDb = 0, loweredDb = 0;
    std::int64_t values = 0;
};

/// True if the lowered form loses more than the reference form: by more than 1 dB and, for few
/// values, by more than chance (three standard deviations of the ratio of two noises). Never beyond
/// 90 dB: floats added in another order differ as much.
bool losesMore(const FormErrors& errors);

/// "12.3 dB", or "exact".
std::string dbText(double db);

/// The loss in one line, with what to do.
std::string lossText(const std::string& output, const FormErrors& errors);

} // namespace qs
