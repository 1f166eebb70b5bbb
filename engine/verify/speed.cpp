// SPDX-License-Identifier: Apache-2.0
#include "engine/verify/speed.h"

#include "engine/base/text.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr std::size_t kMostKinds = 6;
constexpr double kMuchOverhead = 0.25, kMuchInFloat = 0.4; ///< shares of the int8 model's time
constexpr double kMuchElsewhere = 0.3; ///< of a call's time

std::string shortText(double value)
{
    return numberText(value, 3);
}

double timeOfAll(const SpeedReport& speed, double OperatorTime::*of)
{
    double all = 0;
    for (const OperatorTime& kind : speed.operators)
        all += kind.*of;
    return all;
}

double int8Time(const SpeedReport& speed)
{
    return timeOfAll(speed, &OperatorTime::int8Ms);
}

/// A remark if the operators' times, measured under a profiler, do not add up to the time of a call
/// without it; else "".
std::string sharesOnly(const SpeedReport& speed)
{
    const double inFloat = timeOfAll(speed, &OperatorTime::floatMs), inInt8 = int8Time(speed);
    const auto isNear
        = [](double sum, double call) { return std::abs(sum - call) <= kMuchElsewhere * call; };
    if (isNear(inFloat, speed.floatMs) && isNear(inInt8, speed.int8Ms))
        return {};
    return "take the operators' times as shares: under the profiler they add up to "
        + shortText(inFloat) + " and " + shortText(inInt8) + " ms";
}

double shareOf(const SpeedReport& speed, const char* name)
{
    const double all = int8Time(speed);
    for (const OperatorTime& kind : speed.operators)
        if (kind.kind == name && all > 0)
            return kind.int8Ms / all;
    return 0;
}

std::string percent(double share)
{
    return fixedText(100 * share, 0) + " %";
}

struct Fallen
{
    std::int64_t count = 0;
    double share = 0;
};

Fallen fellBack(const SpeedReport& speed)
{
    Fallen fallen;
    const double all = int8Time(speed);
    for (const OperatorTime& kind : speed.operators) {
        fallen.count += kind.fellBack;
        fallen.share += all > 0 ? kind.fellBackMs / all : 0;
    }
    return fallen;
}

std::string slowerText(const SpeedReport& speed, bool hasDotProduct)
{
    const double quantize = shareOf(speed, kQuantizeKind), layout = shareOf(speed, kLayoutKind);
    const Fallen fallen = fellBack(speed);
    std::string why;
    if (quantize >= kMuchOverhead && quantize >= layout)
        why = "quantizing and dequantizing takes " + percent(quantize)
            + " of its time; quantize the operators between, or keep lone ones float";
    else if (layout >= kMuchOverhead)
        why = "changing the memory layout takes " + percent(layout)
            + " of its time; feed it channels-last, or keep what permutes in float";
    else if (fallen.share >= kMuchInFloat)
        why = counted(fallen.count, "operator") + " still multiply in float ("
            + percent(fallen.share)
            + " of its time); see why they are not quantized, or target "
              "another runtime";
    else if (!hasDotProduct)
        why = "this processor has no dot product of bytes (VNNI); measure where it will run, or "
              "ship the float model here";
    else
        why = "its layers are too small for what each int8 kernel costs to start; use larger "
              "batches, or ship the float model here";
    return "int8 is slower here: " + why;
}

} // namespace

std::vector<std::string> speedLines(const SpeedReport& speed, bool hasDotProduct)
{
    if (!speed.error.empty())
        return {"not timed: " + speed.error};
    std::vector<std::string> lines {"a call takes " + shortText(speed.floatMs) + " ms in float and "
                                    + shortText(speed.int8Ms) + " ms in int8 ("
                                    + fixedText(speed.speedup, 2) + " times as fast), "
                                    + counted(speed.rounds, "call") + " of each in turn, "
                                    + counted(speed.samples, "sample") + " a call"};
    std::string kinds;
    for (std::size_t i = 0; i < std::min(speed.operators.size(), kMostKinds); ++i) {
        const OperatorTime& kind = speed.operators[i];
        kinds += (kinds.empty() ? "" : ", ") + kind.kind + " " + shortText(kind.floatMs) + " to "
            + shortText(kind.int8Ms);
    }
    if (!kinds.empty())
        lines.push_back("in ms, float to int8: " + kinds);
    if (std::string shares = sharesOnly(speed); !speed.operators.empty() && !shares.empty())
        lines.push_back(std::move(shares));
    if (speed.operators.empty())
        lines.emplace_back("this runtime gives no times by operator");
    else
        lines.push_back("of the int8 model's time quantizing and dequantizing takes "
                        + percent(shareOf(speed, kQuantizeKind)) + ", changing the memory layout "
                        + percent(shareOf(speed, kLayoutKind)));
    if (const Fallen fallen = fellBack(speed); fallen.count > 0)
        lines.push_back(counted(fallen.count, "operator") + " that "
                        + (fallen.count == 1 ? "multiplies" : "multiply") + " run in float, "
                        + percent(fallen.share) + " of the int8 model's time");
    if (speed.speedup < 1)
        lines.push_back(slowerText(speed, hasDotProduct));
    return lines;
}

} // namespace qs
