// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/checkpoint.h"
#include "engine/calibrate/device_choice.h"
#include "engine/pipeline/stages/model_stages.h"

#include <atomic>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace qs {

class RecordedShapes;
struct RunFindings;

/// Adds the calibration: plan ► prepared ► observations and parameters.
class CalibrationStages : public ModelStages
{
public:
    using ModelStages::ModelStages;

    Result<CalibrationPtr> calibrate(const CalibrateRequest& request,
                                     const JobContext& job) override;

    /// The calibration from a result document: its parameters, and as statistics only the ranges.
    /// `documentHash` is part of the key.
    Result<CalibrationPtr> restore(const CalibrateRequest& request, QParamsTable qparams,
                                   Observations observations, const std::string& documentHash,
                                   const JobContext& job);

    /// Saves the statistics as the checkpoint of an interrupted calibration, so that the next run
    /// need not observe again.
    Result<void> saveCheckpoint(const Calibration& calibration) const;

protected:
    /// One requested calibration, up to the point where data run.
    struct Run
    {
        PreparedPtr prepared;
        std::shared_ptr<const Dataset> data;
        DeviceChoice device;
        Key dataKey; ///< content and cut
        Key resumeKey; ///< independent of the number of batches, if it changes no batch
        Key key; ///< of the calibration
        std::unordered_map<ObserverId, Key> seen; ///< by observer: key of its cached statistics
        double prepareSeconds = 0;
        std::shared_ptr<CalibrationWatch> watch; ///< of the request; may be null

        Key amountKey() const { return KeyBuilder("amount").add(dataKey).key(); }
    };
    /// Amount of data that was read.
    struct Amount
    {
        std::int64_t batches = 0, samples = 0;
    };

    Result<Run> prepareRun(const CalibrateRequest& request, const JobContext& job);
    void keepStatistics(const Run& run, const Observations& seen);
    /// The calibration from cached statistics and the `fresh` ones; null if one is missing.
    CalibrationPtr assemble(const Run& run, const Observations* fresh = nullptr);
    /// As `assemble`, but recomputed and not cached.
    std::shared_ptr<Calibration> gather(const Run& run, const Observations* fresh);
    /// Observers of the run without cached statistics.
    std::unordered_set<ObserverId> unseen(const Run& run);

private:
    Result<void> keepToMemoryLimit(const Graph& model, const Plan& plan, std::int64_t samples);
    /// Runs the data for the observers without cached statistics, or for all of them.
    /// Fills `found` even if the run fails.
    Result<ObservationsPtr> observe(const Run& run, const JobContext& job, bool all,
                                    RunFindings& found);
    /// `calibrate` with the recipe unchanged.
    Result<CalibrationPtr> calibrateOnce(const CalibrateRequest& request, const JobContext& job,
                                         RunFindings& found);
    /// Finds and stores the shapes that the run's data contradict. Returns whether there are any.
    Result<bool> correctShapes(const CalibrateRequest& request, const Run& run,
                               const RecordedShapes& shapes, const JobContext& job);
    std::optional<Checkpoint> checkpointOf(const PreparedModel& prepared, const Key& dataKey,
                                           const std::string& device) const;

    std::unordered_set<Key> m_triedShapes; ///< keys of models and data that were tried
    std::atomic<std::size_t> m_reportedBytes {0}; ///< of cached results, in the last log note
};

} // namespace qs
