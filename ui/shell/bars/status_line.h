// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plan/plan.h"

#include <QObject>
#include <QString>

class QStatusBar;

namespace qs {

class ElidedLabel;
class Workspace;

/// The line at the bottom: the last result, the plan's warnings, the recipe of the
/// results. GUI thread only.
class StatusLine : public QObject
{
    Q_OBJECT

public:
    StatusLine(Workspace& workspace, QStatusBar& bar);

Q_SIGNALS:
    void warningsClicked();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void refresh();
    /// Predicted memory of a run of the plan; recomputed when plan or batch size changed.
    QString memoryText();

    Workspace& m_workspace;
    ElidedLabel* m_summary;
    ElidedLabel* m_warnings;
    ElidedLabel* m_provenance;
    PlanPtr m_predictedPlan; ///< the plan of `m_memory`
    int m_predictedBatch = 0;
    QString m_memory;
    QString m_opening; ///< the file that is being opened; else empty
};

} // namespace qs
