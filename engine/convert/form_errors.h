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
/// values, by more than random variation (three standard deviations of the ratio of two noises).
/// False above 90 dB, where floats that are summed in another order differ as much.
bool losesMore(const FormErrors& errors);

/// "12.3 dB", or "exact".
std::string dbText(double db);

/// One line on the loss of an output, with advice.
std::string lossText(const std::string& output, const FormErrors& errors);

} // namespace qs
