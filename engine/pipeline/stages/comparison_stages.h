// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/blame.h"
#include "engine/pipeline/stages/calibration_stages.h"

namespace qs {

/// Adds the conversion and what is measured on it: observations ► converted ► comparison, causes.
class ComparisonStages : public CalibrationStages
{
public:
    using CalibrationStages::CalibrationStages;

    Result<ConvertedPtr> convert(const ConvertRequest& request, const JobContext& job) override;
    Result<ComparisonPtr> compare(const CompareRequest& request, const JobContext& job) override;
    Result<DiagnosisPtr> why(const CompareRequest& request, const BlameOptions& options,
                             const JobContext& job) override;
    Result<Evaluation> evaluate(const CompareRequest& request, const UserMetric& metric,
                                const JobContext& job) override;
    Result<ValueInspectionPtr> inspect(const CompareRequest& request,
                                       const InspectionTarget& target,
                                       const JobContext& job) override;
    Result<SampleValuesPtr> sampleValues(const CompareRequest& request, const SampleWanted& wanted,
                                         const JobContext& job) override;

    Result<std::vector<SampleInput>> sampleInputs(const SampleInputsRequest& request,
                                                  const JobContext& job) override;

    /// `why` without the causes.
    Result<BlamePtr> blame(const CompareRequest& request, const BlameOptions& options,
                           const JobContext& job);

protected:
    Result<Key> comparisonKey(const CompareRequest& request, const JobContext& job);
    /// Caches the causes that a result document holds.
    void adoptDiagnosis(const StoredRun& stored, const PreparedModel& prepared,
                        const Key& comparison);

private:
    /// Key of the batch that checks kernels, of the model and the threads; empty if no values are
    /// kept.
    Result<Key> checkedKey(const ConvertRequest& request, const JobContext& job);
    /// Key of the compared data, how they are cut, device and threads.
    Result<Key> comparedKey(const CompareRequest& request, const JobContext& job);
    /// What a comparison runs: the conversion, made again if it is older than the requested
    /// calibration, and the data.
    struct Compared
    {
        ConvertedPtr converted;
        std::shared_ptr<const Dataset> data;
    };
    Result<Compared> comparedOf(const CompareRequest& request, const JobContext& job);
};

} // namespace qs
