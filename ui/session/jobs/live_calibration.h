// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/calibrate/convergence/calibration_watch.h"
#include "engine/pipeline/stages.h"
#endif

#include <QObject>
#include <QString>

#include <optional>

namespace qs {

class Workspace;

/// Follows a calibration while it runs: the ranges so far and the histogram of one observer.
/// Afterwards the record of the document's calibration. GUI thread only.
class LiveCalibration : public QObject
{
    Q_OBJECT

public:
    explicit LiveCalibration(Workspace& workspace);

    /// Sets the observer of the plan whose histogram is wanted.
    void ask(ObserverId id);
    bool isRunning() const { return m_watch != nullptr; }
    /// The newest snapshot of the running calibration; null before its first one and without one.
    const SnapshotPtr& snapshot() const { return m_snapshot; }
    /// The ranges of the running calibration, else of the document's. Null without any.
    const ConvergencePtr& convergence() const { return m_convergence; }
    /// The ranges of an observer of the plan, the running one last; empty without any.
    std::vector<RangeAfter> ranges(ObserverId id) const;
    /// The hint on these ranges; nothing without one.
    std::optional<ConvergenceHint> hint() const;
    /// The number of batches that would give nearly the same ranges as those read so far; 0 if the
    /// ranges are not settled.
    std::int64_t enoughBatches() const;
    /// Limits the calibration to `enoughBatches`, as one undoable decision.
    void limitToEnough();

Q_SIGNALS:
    void changed();

private:
    void update();

    Workspace& m_workspace;
    std::shared_ptr<CalibrationWatch> m_watch; ///< of the running calibration
    SnapshotPtr m_snapshot;
    CalibrationPtr m_calibration; ///< source of `m_convergence` while none runs
    ConvergencePtr m_convergence;
    ObserverId m_asked;
};

} // namespace qs
