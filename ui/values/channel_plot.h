// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/values/value_inspection.h"
#endif

#include "ui/plots/box_plot.h"
#include "ui/plots/plot_page.h"

class QCPBars;

namespace qs {

class ChoiceBar;
class UncuredWeights;
class ValueInspections;

/// The channels of the selected node. As ranges: those of its weight, and the range that
/// quantization keeps if it is per-tensor; outlined, those before cures that change the model. As
/// boxes: quantiles of its output's values in the float model over the compared data, which are
/// read when the page is shown. GUI thread only.
class ChannelPlot : public PlotPage
{
    Q_OBJECT

public:
    enum Mode
    {
        Ranges,
        Boxes
    };
    explicit ChannelPlot(Workspace& workspace, QWidget* parent = nullptr);
    int channelCount() const { return m_channels; }
    /// Channels whose range before cures is outlined; for tests.
    int outlinedCount() const { return m_outlined; }
    void setMode(Mode mode);
    /// For tests.
    const BoxPlot& boxes() const { return m_boxes; }
    const ValueInspections& inspections() const { return *m_inspections; }

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void leaveHeadroom() override;

private:
    void refresh();
    void refreshRanges();
    void refreshBoxes();
    /// Draws the outlines; the largest magnitude among them, 0 without any.
    double showBefore(NodeId node);
    void showNone(const QString& caption, const QString& why);
    /// Reads the values only while boxes are visible.
    void watch();

    ChoiceBar* m_mode;
    QCPBars* m_max;
    QCPBars* m_min;
    QCPBars* m_maxBefore; ///< without cures
    QCPBars* m_minBefore;
    UncuredWeights* m_uncured;
    BoxPlot m_boxes;
    ValueInspections* m_inspections;
    int m_channels = 0, m_outlined = 0;
};

} // namespace qs
