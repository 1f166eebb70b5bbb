// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/calibrate/observations.h"
#endif

#include "ui/plots/plot_page.h"

class QCPGraph;
class QLabel;
class QPushButton;

namespace qs {

/// The range of the selected value by batches of calibration, while it runs and afterwards, with
/// the hint on the amount of data. Without a recorded range of the selected value, that of the
/// value that changes most. GUI thread only.
class ConvergencePlot : public PlotPage
{
    Q_OBJECT

public:
    explicit ConvergencePlot(Workspace& workspace, QWidget* parent = nullptr);
    /// The drawn ranges, by batches; for tests.
    const std::vector<RangeAfter>& ranges() const { return m_ranges; }
    QString hintLine() const;

protected:
    void leaveHeadroom() final;

private:
    void refresh();
    void refreshHint();
    /// The observer whose range is drawn; none without ranges.
    ObserverId drawnObserver() const;
    void draw();

    QCPGraph* m_low;
    QCPGraph* m_high;
    QLabel* m_hint;
    QPushButton* m_limit;
    std::vector<RangeAfter> m_ranges;
};

} // namespace qs
