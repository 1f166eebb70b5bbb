// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"
#include "engine/compare/sweep/sweep.h"
#include "engine/edit/edited_model.h"
#include "engine/values/value_inspection.h"

namespace qs {

/// Runs batches through the float and the reference form, as a comparison does, but only up to the
/// inspected value. One thread at a time; call under a torch guard and an inference scope.
class WatchedRun
{
public:
    /// `edited`: see `inspectValue`. Fails (BadInput) if the output is missing, if a comparison
    /// does not measure the node, or if the file's model does not have it.
    static Result<WatchedRun> create(const ConvertedModel& converted,
                                     const InspectionTarget& target, const std::string& device,
                                     bool isSequence, const EditedModel* edited);

    /// Returns y and y^ of each result. Errors: those of the batch; Unsupported if the shapes
    /// differ.
    Result<std::vector<ValuePair>> run(const Batch& batch, const JobContext& job);

    /// The inspected unit; null for an output of the model.
    const CompareUnit* unit() const;
    /// The float graph's values that `run` returns.
    const std::vector<ValueRef>& values() const { return m_values; }

private:
    WatchedRun(const ConvertedModel& converted, const InspectionTarget& target, Sweep sweep);
    Result<void> aim(const EditedModel* edited);

    const ConvertedModel* m_converted;
    InspectionTarget m_target;
    Sweep m_sweep;
    std::optional<std::size_t> m_unit;
    std::size_t m_floatOutput = 0; ///< index of the output on the float side
    std::size_t m_formOutput = 0; ///< index of the output in the reference form
    std::vector<ValueRef> m_values;
    std::shared_ptr<std::vector<ValuePair>> m_seen = std::make_shared<std::vector<ValuePair>>();
    at::Device m_device;
};

} // namespace qs
