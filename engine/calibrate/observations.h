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

/// Bins of a histogram for display and what-if analysis, unless the observer has its own histogram.
inline constexpr std::int32_t kFineBins = 2048;

/// The range that an observer would quantize after the first `batches` batches. A per-channel
/// observer counts with the range over all channels.
struct RangeAfter
{
    std::int64_t batches = 0;
    float low = 0, high = 0;
    friend bool operator==(const RangeAfter&, const RangeAfter&) = default;
};

/// Statistics of one observer. Plain numbers, for windows and files.
struct ObserverStats
{
    ObserverId id;
    ObserverSpec spec;
    std::int64_t count = 0; ///< values seen
    std::int64_t nonFinite = 0; ///< number of NaN and Inf among them
    float min = 0; ///< the observer's state (for a moving-average observer, the average)
    float max = 0;
    std::vector<float> channelMin, channelMax; ///< per-channel observers
    Histogram exact; ///< torch.ao's HistogramObserver state, histogram observers only
    Histogram fine; ///< for display and what-if analysis: all per-tensor activation observers
    std::vector<float> batchMin, batchMax; ///< per call
    /// Ranges for this spec after 1, 2, 4, 8 ... batches and after the last one, of observers that
    /// choose an activation's range from the data (`RangeRecorder`). Empty if none were recorded.
    std::vector<RangeAfter> ranges;
    bool everRan() const { return count > 0; }
};

/// Result of a calibration. A value; share as ObservationsPtr.
struct Observations
{
    std::vector<ObserverStats> observers; ///< in the order of Plan::observers, by ascending id
    std::int64_t batches = 0;
    std::int64_t samples = 0;
    std::string device; ///< "cpu", "cuda:0"
    int threads = 0;
    const ObserverStats* tryGet(ObserverId id) const;
};
using ObservationsPtr = std::shared_ptr<const Observations>;

/// Writes all statistics atomically as an .npz with a checksum of its content. `key` identifies the
/// calibration for later readers. Cancellation leaves no file.
Result<void> writeObservations(const Observations& observations, const std::string& path,
                               const std::string& key = {}, const JobContext& job = {});

/// Returns the key passed to `writeObservations`. Fails (BadInput, NotFound, Io) if the file is of
/// another kind, has no key, or is damaged.
Result<std::string> observationsKey(const std::string& path);

/// Content of a file written by `writeObservations`, with its key, for observers of given ids and
/// specs. Fails if the file is missing, it belongs to other observers, or it is damaged.
struct StoredObservations
{
    Observations observations;
    std::string key;
};
Result<StoredObservations> readObservations(const std::string& path,
                                            const std::vector<PlannedObserver>& observers);

} // namespace qs
