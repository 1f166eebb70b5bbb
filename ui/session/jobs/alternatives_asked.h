// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/convert/ranges/value_alternatives.h"
#include "engine/pipeline/stages.h"
#endif

#include <QObject>

#include <map>
#include <vector>

class QTimer;

namespace qs {

class Workspace;

/// Other ways to quantize the value of an observer of the calibration, computed on a pool thread on
/// request and cached until the next calibration. Requests of one turn of the event loop are
/// answered together. GUI thread only.
class AlternativesAsked : public QObject
{
    Q_OBJECT

public:
    explicit AlternativesAsked(Workspace& workspace, QObject* parent = nullptr);

    /// Returns the alternatives for an observer of the plan. Null if not known yet: then `arrived`
    /// follows. Empty if nothing was observed.
    const std::vector<Alternative>* ask(ObserverId id);

Q_SIGNALS:
    void arrived();

private:
    void workOut();

    Workspace& m_workspace;
    CalibrationPtr m_calibration; ///< that the members below belong to
    std::map<ObserverId, std::vector<Alternative>> m_known; ///< by the calibration's ids
    std::vector<ObserverId> m_wanted, m_running; ///< requested in this turn; being computed
    QTimer* m_start;
};

} // namespace qs
