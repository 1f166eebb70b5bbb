// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"
#include "engine/compare/output_run.h"
#include "engine/compare/sweep/sweep.h"
#include "engine/edit/edited_model.h"
#include "engine/values/value_inspection.h"

namespace qs {

/// Runs batches through the float and the reference form, as a comparison does, only as far as the
/// inspected value needs. One thread at a time; under a torch guard and an inference scope.
class WatchedRun
{
public:
    /// `edited`: see `inspectValue`. Errors: no such output, a node that a comparison does not
    /// measure, one that the file's model does not have (BadInput).
    static Result<WatchedRun> create(const ConvertedModel& converted,
                                     const InspectionTarget& target, const std::string& device,
                                     bool isSequence, const EditedModel* edited);

    /// y and y^ of each result. Errors: those of the batch, values of different shapes
    /// (Unsupported).
    Result<std::vector<ValuePair>> run(const Batch& batch, const JobContext& job);

    /// The inspected unit; null for an output of the model.
    const CompareUnit* unit() const;
    /// The float graph's values that `run` gives.
    const std::vector<ValueRef>& values() const { return m_values; }

private:
    WatchedRun(const ConvertedModel& converted, const InspectionTarget& target, Sweep sweep);
    Result<void> aim(const EditedModel* edited);

    const ConvertedModel* m_converted;
    InspectionTarget m_target;
    Sweep m_sweep;
    std::optional<OutputRun> m_reference; ///< as exported, where the sweep adds up in another way
    std::optional<std::size_t> m_unit;
    std::size_t m_floatOutput = 0; ///< of an output: its place among the float side's
    std::size_t m_formOutput = 0; ///< and among the reference form's
    std::vector<ValueRef> m_values;
    std::shared_ptr<std::vector<ValuePair>> m_seen = std::make_shared<std::vector<ValuePair>>();
    at::Device m_device;
};

} // namespace qs
