// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/plots/plot_page.h"

class QCPBars;

namespace qs {

/// The range of each channel of the selected node's weight, and the range that quantization keeps
/// if it is per-tensor. GUI thread only.
class ChannelPlot : public PlotPage
{
    Q_OBJECT

public:
    explicit ChannelPlot(Workspace& workspace, QWidget* parent = nullptr);
    int channelCount() const { return m_channels; }

private:
    void refresh();

    QCPBars* m_max;
    QCPBars* m_min;
    int m_channels = 0;
};

} // namespace qs
