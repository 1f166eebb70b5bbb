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
    double fellBackMs = 0; ///< part of `int8Ms` in operators that multiply in float
    std::int64_t fellBack = 0; ///< number of these operators
};

/// Times of float and int8 in one runtime, for whole calls that alternate in one process.
struct SpeedReport
{
    double floatMs = 0, int8Ms = 0; ///< medians of a call
    double speedup = 0; ///< median of float/int8 ratios of adjacent calls
    std::int64_t rounds = 0, samples = 0; ///< calls of each model; samples per call
    std::vector<OperatorTime> operators; ///< the longest first
    std::string error; ///< one line if nothing could be timed
};

inline constexpr const char* kQuantizeKind = "quantize and dequantize";
inline constexpr const char* kLayoutKind = "layout";

/// Text lines: the figures, the overhead, the fallbacks and, if int8 is slower, why and what to do.
/// `hasDotProduct`: as returned by the function of that name.
std::vector<std::string> speedLines(const SpeedReport& speed, bool hasDotProduct);

} // namespace qs
