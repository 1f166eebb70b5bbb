// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QCustomPlot;
class QLabel;
class QVBoxLayout;

namespace qs {

class ElidedLabel;
class Workspace;

/// A plot under its caption, or a sentence where there is nothing to plot. GUI thread only.
class PlotPage : public QWidget
{
    Q_OBJECT

public:
    PlotPage(Workspace& workspace, const QString& name, QWidget* parent);
    QString caption() const;

protected:
    void resizeEvent(QResizeEvent* event) final;
    /// Fits the vertical axis to the plot's height: called where the height changes.
    virtual void leaveHeadroom() { }
    /// Axes are shown only with data.
    void showAxes(bool any);

    Workspace& m_workspace;
    QCustomPlot* m_plot;
    ElidedLabel* m_caption;
    QLabel* m_empty; ///< over the plot, where there are no axes
    QVBoxLayout* m_column;
};

} // namespace qs
