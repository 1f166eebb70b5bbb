// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// The time of the operators of one kind in one call.
struct OperatorTime
{
    std::string kind; ///< "convolution", "quantize and dequantize", "layout", else the operator
    double floatMs = 0, int8Ms = 0; ///< of the float and of the int8 model
    double fellBackMs = 0; ///< of `int8Ms`: operators that multiply, and do so in float
    std::int64_t fellBack = 0; ///< how many of those
};

/// Float against int8 in one runtime: whole calls one after the other in one process, alternating.
struct SpeedReport
{
    double floatMs = 0, int8Ms = 0; ///< medians of a call
    double speedup = 0; ///< median of the ratios of neighbouring calls, float by int8
    std::int64_t rounds = 0, samples = 0; ///< calls of each; samples a call
    std::vector<OperatorTime> operators; ///< the longest first
    std::string error; ///< one line where nothing could be timed
};

inline constexpr const char* kQuantizeKind = "quantize and dequantize";
inline constexpr const char* kLayoutKind = "layout";

/// Lines for people: the figures, the overhead, the fallbacks and, if int8 is slower, why and what
/// to do. `hasDotProduct`: the processor multiplies bytes.
std::vector<std::string> speedLines(const SpeedReport& speed, bool hasDotProduct);

} // namespace qs
