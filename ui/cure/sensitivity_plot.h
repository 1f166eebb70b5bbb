// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/plots/dot_plot.h"

class QCPGraph;

namespace qs {

class SensitivityModel;

/// The units: share of the outputs' noise over share of the multiplications, both on logarithmic
/// axes, a dot each. Selected ones are ringed. A click on a dot, or arrow keys, select its unit.
/// GUI thread only.
class SensitivityPlot : public DotPlot
{
    Q_OBJECT

public:
    SensitivityPlot(Workspace& workspace, SensitivityModel& units, QWidget* parent = nullptr);
    /// Number of ringed dots; for tests.
    int ringCount() const;

protected:
    /// Labels as many powers of ten as have room.
    void leaveHeadroom() final;

private:
    void refresh();
    void showSelection();
    int keyDot() const final;
    void pointAt(int dot) final;
    void moveTo(int dot) final { choose(dot); }
    void choose(int dot) final;

    SensitivityModel& m_units;
    QCPGraph* m_dots;
    QCPGraph* m_rings; ///< around the selected
    double m_left = 1, m_foot = 1; ///< least powers of ten drawn, in percent
};

} // namespace qs
