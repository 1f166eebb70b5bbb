// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace qs {

/// Differences between the elements of two forms, in quantization steps. A value.
struct StepCounts
{
    static constexpr int kReach = 8;
    /// Elements by difference, rounded to whole steps: -8 and less, -7 ... 7, 8 and more.
    std::array<std::int64_t, 2 * kReach + 1> histogram {};
    std::int64_t count = 0; ///< elements; 0 if only `largest` is known
    double sum = 0; ///< of absolute differences
    double largest = 0;
    friend bool operator==(const StepCounts&, const StepCounts&) = default;

    /// The histogram's count for a difference of `steps`, from -kReach to kReach.
    std::int64_t& apartBy(int steps) { return histogram.data()[kReach + steps]; }
    std::int64_t apartBy(int steps) const { return histogram.data()[kReach + steps]; }
    double mean() const { return count > 0 ? sum / double(count) : 0; }
    /// Elements that are the same integer: less than half a step away.
    std::int64_t equal() const { return histogram[kReach]; }
    double equalShare() const { return count > 0 ? double(equal()) / double(count) : 1; }

    void add(const StepCounts& other)
    {
        for (std::size_t i = 0; i < histogram.size(); ++i)
            histogram[i] += other.histogram[i];
        count += other.count;
        sum += other.sum;
        largest = std::max(largest, other.largest);
    }
};

} // namespace qs
