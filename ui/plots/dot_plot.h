// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/plots/plot_page.h"

#include <QPointF>

#include <vector>

namespace qs {

/// A plot of dots for pointer and keyboard: arrow keys, Home and End go from dot to dot, left to
/// right; a click or Return chooses one. GUI thread only.
class DotPlot : public PlotPage
{
    Q_OBJECT

public:
    /// `dots`: object name of the area with the dots.
    DotPlot(Workspace& workspace, const QString& name, const char* dots, const QString& words,
            QWidget* parent);
    int dotCount() const { return int(m_places.size()); }
    /// The position of a dot in the plot's coordinates; for tests.
    QPoint dotPosition(int dot) const;

protected:
    bool eventFilter(QObject* watched, QEvent* event) final;
    /// Places of the dots on the axes.
    void setDots(std::vector<QPointF> places);
    const std::vector<QPointF>& dots() const { return m_places; }

private:
    /// The dot that keys start from; -1 without one.
    virtual int keyDot() const = 0;
    /// The pointer is on the dot, or on none: -1.
    virtual void pointAt(int dot) = 0;
    virtual void moveTo(int dot) = 0;
    virtual void choose(int dot) = 0;
    int dotAt(const QPointF& point) const;
    bool useKey(int key);

    std::vector<QPointF> m_places;
    std::vector<int> m_order; ///< dots from left to right
};

} // namespace qs
