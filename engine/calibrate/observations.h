// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/base/result.h"
#include "engine/base/strong_id.h"
#include "engine/plan/plan.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace qs {

/// A histogram over [min, max] with equal bins.
struct Histogram
{
    float min = 0;
    float max = 0;
    std::vector<float> counts;
    bool empty() const { return counts.empty(); }
};

/// Bins of a histogram for display and what-if, unless the observer has its own histogram.
inline constexpr std::int32_t kFineBins = 2048;

/// Statistics of one observer. Plain numbers, for windows and files.
struct ObserverStats
{
    ObserverId id;
    ObserverSpec spec;
    std::int64_t count = 0; ///< values seen
    std::int64_t nonFinite = 0; ///< NaN or Inf among them
    float min = 0; ///< the observer's own state (a moving average where it is one)
    float max = 0;
    std::vector<float> channelMin, channelMax; ///< per-channel observers
    Histogram exact; ///< torch.ao's HistogramObserver state, histogram observers only
    Histogram fine; ///< for display and what-if: every per-tensor activation observer
    std::vector<float> batchMin, batchMax; ///< per call
    bool everRan() const { return count > 0; }
};

/// Result of a calibration. A value; share as ObservationsPtr.
struct Observations
{
    std::vector<ObserverStats> observers; ///< in the order of Plan::observers: ids ascend
    std::int64_t batches = 0;
    std::int64_t samples = 0;
    std::string device; ///< "cpu", "cuda:0"
    int threads = 0;
    const ObserverStats* tryGet(ObserverId id) const;
};
using ObservationsPtr = std::shared_ptr<const Observations>;

/// All statistics as an .npz with a checksum of its content; written atomically. `key` identifies
/// the calibration for later readers. A cancel leaves no file.
Result<void> writeObservations(const Observations& observations, const std::string& path,
                               const std::string& key = {}, const JobContext& job = {});

/// The key that `writeObservations` was given. Errors (BadInput, NotFound, Io): not such a file,
/// none with a key, or one that was damaged since.
Result<std::string> observationsKey(const std::string& path);

/// Content of a file of `writeObservations` for observers of these ids and specs, with its key.
/// Errors: no such file, not the statistics of these observers, a file that was damaged since.
struct StoredObservations
{
    Observations observations;
    std::string key;
};
Result<StoredObservations> readObservations(const std::string& path,
                                            const std::vector<PlannedObserver>& observers);

} // namespace qs
