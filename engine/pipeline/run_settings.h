// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace qs {

/// Which data a run uses, where it runs, and what its result is measured against. A value.
struct RunSettings
{
    std::string calibrationData; ///< path or "sample"
    std::string comparisonData; ///< empty: the batches that were calibrated on
    std::string device = "auto"; ///< "auto", "cpu", "cuda", "cuda:N"
    /// Measured against the file's model, not against what edits made of it.
    bool againstOriginal = false;
    friend bool operator==(const RunSettings&, const RunSettings&) = default;

    /// The data that a comparison runs on.
    const std::string& compared() const
    {
        return comparisonData.empty() ? calibrationData : comparisonData;
    }
};

} // namespace qs
