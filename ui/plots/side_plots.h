// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStackedWidget>

namespace qs {

class ChoiceBar;
class ConvergencePlot;
class ErrorBarPlot;
class Workspace;

/// The plots beside the histogram: the errors, or how the ranges settle. Shows the latter while a
/// calibration runs and the errors once they are measured; the user can switch. GUI thread only.
class SidePlots : public QStackedWidget
{
    Q_OBJECT

public:
    explicit SidePlots(Workspace& workspace, QWidget* parent = nullptr);
    ErrorBarPlot& errors() { return *m_errors; }

private:
    enum Page
    {
        Errors,
        Ranges
    };
    void showPage(int page);

    ErrorBarPlot* m_errors;
    ConvergencePlot* m_ranges;
    ChoiceBar* m_bars[2]; ///< by page
};

} // namespace qs
