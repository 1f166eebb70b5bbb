// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QCPBars;
class QCustomPlot;
class QLabel;

namespace qs {

class Workspace;

/// The range of each channel of the selected node's weight, and the range that quantization keeps
/// where it is one for all. GUI thread only.
class ChannelPlot : public QWidget
{
    Q_OBJECT

public:
    explicit ChannelPlot(Workspace& workspace, QWidget* parent = nullptr);
    int channelCount() const { return m_channels; }

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void refresh();

    Workspace& m_workspace;
    QCustomPlot* m_plot;
    QLabel* m_caption;
    QLabel* m_empty;
    QCPBars* m_max;
    QCPBars* m_min;
    int m_channels = 0;
};

} // namespace qs
