// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QCPLayer;
class QCustomPlot;
class QHBoxLayout;
class QLabel;
class QVBoxLayout;

namespace qs {

class ElidedLabel;
class Workspace;

/// A plot under its caption, or a sentence without data to plot. GUI thread only.
class PlotPage : public QWidget
{
    Q_OBJECT

public:
    PlotPage(Workspace& workspace, const QString& name, QWidget* parent);
    QString caption() const;
    /// Shows a small widget at the end of the caption's row.
    void setCorner(QWidget& corner);

protected:
    void resizeEvent(QResizeEvent* event) final;
    void showEvent(QShowEvent* event) override;
    /// Draws the plot in the next turn of the event loop; a hidden page when it is shown.
    void replot();
    /// Redraws at once a layer that has a separate buffer; other layers are not redrawn.
    void replot(QCPLayer& layer);
    /// Fits the vertical axis to the plot's height; called after a resize.
    virtual void leaveHeadroom() { }
    /// Shows or hides the axes: they are shown only with data.
    void showAxes(bool any);

    Workspace& m_workspace;
    QCustomPlot* m_plot;
    ElidedLabel* m_caption;
    QLabel* m_empty; ///< covers the plot if it has no axes
    QVBoxLayout* m_column;
    QHBoxLayout* m_head; ///< the caption's row

private:
    bool m_isDue = false; ///< drawn when the page is shown
};

} // namespace qs
