// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/convergence/convergence.h"
#include "engine/calibrate/observations.h"
#include "engine/plan/plan.h"

#include <memory>
#include <mutex>
#include <utility>

namespace qs {

/// State of a running calibration between two batches. Immutable; share as SnapshotPtr.
struct CalibrationSnapshot
{
    PlanPtr plan; ///< whose observers the ids belong to
    std::int64_t batches = 0, allBatches = 0; ///< done; to do in total
    std::int64_t samples = 0;
    bool isLast = false; ///< after the last batch
    /// Ranges at the recorded counts; after the last batch also those.
    ConvergencePtr convergence;
    /// The range of each observer of `convergence` now, in the same order. If a range needs a
    /// search, only that of `asked` is current; others are the newest recorded ones.
    std::vector<RangeAfter> running;
    ObserverId asked; ///< the observer with the histogram; invalid without one
    Histogram histogram; ///< of `asked`; empty without one
    std::int64_t count = 0; ///< number of values in it
};
using SnapshotPtr = std::shared_ptr<const CalibrationSnapshot>;

/// Passes snapshots from the thread of a calibration to a reader, and the observer that the reader
/// asks for back to it. Thread safe.
class CalibrationWatch
{
public:
    /// Sets the observer whose histogram later snapshots contain.
    void ask(ObserverId id)
    {
        const std::lock_guard lock(m_mutex);
        m_asked = id;
    }
    ObserverId asked() const
    {
        const std::lock_guard lock(m_mutex);
        return m_asked;
    }
    void put(SnapshotPtr snapshot)
    {
        const std::lock_guard lock(m_mutex);
        m_newest = std::move(snapshot);
    }
    /// Null before the first one.
    SnapshotPtr newest() const
    {
        const std::lock_guard lock(m_mutex);
        return m_newest;
    }

private:
    mutable std::mutex m_mutex;
    ObserverId m_asked;
    SnapshotPtr m_newest;
};

} // namespace qs
