// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/convergence/calibration_watch.h"
#include "engine/calibrate/observers/observer.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace qs {

/// Records the ranges of a run's observers in their statistics, at the recorded counts and after
/// its last batch. With a watch, also publishes snapshots: at most four a second, less often if
/// they would take more than one percent of the time. One thread.
class RangeRecorder
{
public:
    /// The low and the high end that an observer with these statistics quantizes. Called from
    /// several threads at once.
    using RangeOf = std::function<std::pair<float, float>(const ObserverStats&)>;
    /// Returns a run's observer; null if it has none with this id.
    using Observers = std::function<Observer*(ObserverId)>;

    /// `followed`: the observers to record, without ranges, by ascending id. `watch` may be null.
    RangeRecorder(std::vector<RangeHistory> followed, RangeOf rangeOf,
                  std::shared_ptr<CalibrationWatch> watch);

    /// The number of batches and samples that the observers saw.
    struct Amount
    {
        std::int64_t batches = 0, allBatches = 0, samples = 0;
        bool isLast() const { return batches == allBatches; }
    };
    /// True if `add` has work after this many batches, so that observations which a device still
    /// queues are collected first.
    bool isDue(const Amount& amount) const;
    /// Records the range of one observer if that is due.
    void addOne(const Amount& amount, Observer& observer) const;
    /// Records and publishes what is due. `plan`: that of the run.
    void add(const Amount& amount, const PlanPtr& plan, const Observers& observers);

private:
    using Clock = std::chrono::steady_clock;
    std::optional<RangeAfter> rangeNow(const Observer& observer, std::int64_t batches) const;
    static bool isRecorded(const Amount& amount, const Observer& observer);
    void record(const Amount& amount, const Observers& observers);
    void publish(const Amount& amount, const PlanPtr& plan, const Observers& observers);

    std::vector<RangeHistory> m_followed; ///< ids and names
    RangeOf m_rangeOf;
    std::shared_ptr<CalibrationWatch> m_watch;
    std::int64_t m_recorded = 0; ///< the newest recorded count
    Clock::time_point m_next; ///< time of the next snapshot; the first is published at once
};

/// True if the range of such an observer takes a search in its histogram.
bool needsSearch(const ObserverSpec& spec);
/// The first recorded count of such an observer: 1; if its range takes a search, the first one that
/// the hint can use.
std::int64_t firstRecordedCount(const ObserverSpec& spec);

} // namespace qs
