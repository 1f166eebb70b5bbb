// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace qs {

/// Which data a run uses and where it runs. A value.
struct RunSettings
{
    std::string calibrationData; ///< path or "sample"
    std::string comparisonData; ///< empty: the batches that were calibrated on
    std::string device = "auto"; ///< "auto", "cpu", "cuda", "cuda:N"
    friend bool operator==(const RunSettings&, const RunSettings&) = default;

    /// The data that a comparison runs on.
    const std::string& compared() const
    {
        return comparisonData.empty() ? calibrationData : comparisonData;
    }
};

} // namespace qs
