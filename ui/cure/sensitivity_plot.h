// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/plots/plot_page.h"

#include <QPointF>

#include <vector>

class QCPGraph;

namespace qs {

class SensitivityModel;

/// The units: share of the outputs' noise over share of the multiplications, both on logarithmic
/// axes, a dot each. Selected ones are ringed. A click on a dot, or arrow keys, select its unit.
/// GUI thread only.
class SensitivityPlot : public PlotPage
{
    Q_OBJECT

public:
    SensitivityPlot(Workspace& workspace, SensitivityModel& units, QWidget* parent = nullptr);
    int dotCount() const { return int(m_dotPlaces.size()); }
    /// Number of ringed dots; for tests.
    int ringCount() const;
    /// The position of a row's dot in the plot's coordinates; for tests.
    QPoint dotPosition(int row) const;

protected:
    bool eventFilter(QObject* watched, QEvent* event) final;
    /// Labels as many powers of ten as have room.
    void leaveHeadroom() final;

private:
    void refresh();
    void showSelection();
    bool moveByKey(int key);
    int dotAt(const QPointF& point) const;

    SensitivityModel& m_units;
    QCPGraph* m_dots;
    QCPGraph* m_rings; ///< around the selected
    double m_left = 1, m_foot = 1; ///< least powers of ten drawn, in percent
    std::vector<QPointF> m_dotPlaces; ///< by row, in percent; zeros are on the edges
    std::vector<int> m_order; ///< rows from left to right
};

} // namespace qs
