// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/pipeline/stages/comparison_stages.h"

namespace qs {

struct Batch;

/// Adds the preview of decisions on a few samples.
class PreviewStage : public ComparisonStages
{
public:
    using ComparisonStages::ComparisonStages;

    Result<PreviewPtr> preview(const PreviewRequest& request, const JobContext& job) override;

private:
    /// The samples for previews of the run.
    struct PreviewData
    {
        std::shared_ptr<const Dataset> data; ///< of that one batch
        std::shared_ptr<const Batch> batch;
        Key key; ///< of model, samples, device and threads
        Key samplesKey; ///< `Preview::samplesKey`
    };
    Result<PreviewData> previewData(const Run& run, const PreviewRequest& request,
                                    const JobContext& job);
    /// A calibration whose missing statistics, and the ranges of the named nodes, are observed on
    /// the samples of a preview; `estimated` gets the names of all these nodes. Not cached.
    Result<CalibrationPtr> estimate(const Run& run, const PreviewData& samples,
                                    const std::vector<std::string>& wanted,
                                    std::vector<std::string>& estimated, const JobContext& job);
};

} // namespace qs
