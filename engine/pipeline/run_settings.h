// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace qs {

/// Data and device of a run, and the model that results are measured against. A value.
struct RunSettings
{
    std::string calibrationData; ///< path or "sample"
    std::string comparisonData; ///< empty: the batches that were calibrated on
    std::string device = "auto"; ///< "auto", "cpu", "cuda", "cuda:N"
    /// Results are measured against the file's model, not against the edited model.
    bool againstOriginal = false;
    /// Local error terms are measured on all data, not on as many batches as their standard error
    /// asks for (`ComparisonOptions::allLocalTerms`).
    bool allLocalTerms = false;
    friend bool operator==(const RunSettings&, const RunSettings&) = default;

    /// The data that a comparison runs on.
    const std::string& compared() const
    {
        return comparisonData.empty() ? calibrationData : comparisonData;
    }

    /// These settings with the data that a command line names, for `quantscope` and
    /// `quantscope-ui`: --data D calibrates and compares on D, unless --compare-on or the
    /// project names data to compare on. Empty: not named.
    RunSettings withData(const std::string& data, const std::string& compareOn) const
    {
        RunSettings out = *this;
        if (!data.empty())
            out.calibrationData = data;
        if (!compareOn.empty())
            out.comparisonData = compareOn;
        return out;
    }
};

} // namespace qs
