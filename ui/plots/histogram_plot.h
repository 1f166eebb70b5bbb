// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/calibrate/convergence/calibration_watch.h"
#include "engine/convert/ranges/value_alternatives.h"
#include "engine/pipeline/stages.h"
#endif

#include "ui/plots/plot_page.h"
#include "ui/plots/range_trial.h"
#include "ui/session/decisions/edge_decisions.h"

class QCPBars;
class QCPGraph;
class QCPItemLine;
class QCPItemRect;
class QCPItemText;
class QTimer;

namespace qs {

class RangeBar;

/// The values that the observer of the selected node's output saw: counts on a logarithmic scale,
/// with the range that quantization keeps and its steps drawn in. Both ends can be dragged, or
/// moved by keys, to see the value's loss. Apply writes rules for the range; Escape resets it.
/// While a calibration runs, the histogram so far. GUI thread only.
class HistogramPlot : public PlotPage
{
    Q_OBJECT

public:
    explicit HistogramPlot(Workspace& workspace, QWidget* parent = nullptr);
    /// Number of bars now shown.
    int barCount() const { return m_barCount; }

    /// The position of an end of the chosen range (0: the lower) in the plot's pixels; for tests.
    QPoint endPosition(int side) const;
    /// The position of the line beyond which values saturate, and its label; for tests.
    double heldLine(int side) const;
    QString heldText() const;
    /// The label of the range that the scale is chosen for; empty if both ranges are equal; for
    /// tests.
    QString chosenText() const;
    /// Number of values in the bars drawn as saturated; for tests.
    double countBeyond() const { return m_countBeyond; }
    const RangeTrial& trial() const { return m_trial; }
    /// The observer whose values are shown; invalid without one.
    ObserverId shown() const { return m_histogram ? m_observer : ObserverId(); }

protected:
    void leaveHeadroom() override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void refresh();
    /// True while a calibration runs and no range is tried: its histogram is shown then.
    bool isLive(ObserverId observer) const;
    /// Draws the newest histogram of the running calibration; `what`: the value in words.
    void showLive(const QString& what);
    void showTrial();
    void fillBars(const Histogram& histogram, const ValueEnds& held);
    /// The alternatives whose range an end snaps to; empty while they are computed.
    std::vector<Alternative> snaps();
    void snapTo(int index);
    void applyTrial();
    /// The step for Apply; nothing without a change.
    std::optional<RecipeStep> trialStep() const;
    /// Requests the effect of the range on the model's outputs; called after the pointer rested.
    void askEffect();
    void showEffect();
    void putBack();
    bool moveByKey(int key, bool finely);
    /// An end of a range that can be dragged.
    struct Grip
    {
        int side = 0; ///< 0: the lower
        bool isHeld = false; ///< an end of the held range, if that differs from the chosen one
    };
    /// The end within reach of a position in the plot.
    std::optional<Grip> endAt(double x) const;
    void dragTo(double x, bool freely);
    void showRange(const ValueEnds& shown);
    void placeLabel(QCPItemText& label, double at, bool toTheRight);
    void showSteps(double low, double step, double dataMin, double dataMax);

    ElidedLabel* m_footer;
    RangeBar* m_bar;
    QCPBars* m_kept;
    QCPBars* m_beyond;
    QCPGraph* m_steps;
    QCPItemRect* m_shade[2];
    QCPItemLine* m_edge[2]; ///< of the range that the integers hold
    QCPItemLine* m_chosenEdge[2]; ///< of the range that the scale is chosen for
    QCPItemText* m_label;
    QCPItemText* m_chosenLabel;
    bool m_labelled = false; ///< there is a range to label
    CalibrationPtr m_calibration; ///< keeps the shown histogram alive
    SnapshotPtr m_snapshot; ///< the same of a running calibration
    const Histogram* m_histogram = nullptr;
    ObserverId m_observer;
    RangeTrial m_trial;
    std::optional<Grip> m_drag; ///< the end that the mouse holds
    int m_side = 1; ///< the end that keys move
    QTimer* m_asking; ///< fires after the pointer rested
    QString m_footerText;
    int m_barCount = 0;
    double m_peak = 1; ///< the highest count shown
    double m_countBeyond = 0;
};

} // namespace qs
