// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QCPLayer;
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
    void showEvent(QShowEvent* event) final;
    /// Draws the plot in the next turn of the event loop; a page out of sight when it is seen.
    void replot();
    /// The same for a layer with its own buffer, at once: the others stay as they are drawn.
    void replot(QCPLayer& layer);
    /// Fits the vertical axis to the plot's height: called where the height changes.
    virtual void leaveHeadroom() { }
    /// Axes are shown only with data.
    void showAxes(bool any);

    Workspace& m_workspace;
    QCustomPlot* m_plot;
    ElidedLabel* m_caption;
    QLabel* m_empty; ///< over the plot, if it has no axes
    QVBoxLayout* m_column;

private:
    bool m_isDue = false; ///< drawn when the page is shown
};

} // namespace qs
