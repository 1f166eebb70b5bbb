// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/graph_style.h"

#include <QWidget>

namespace qs {

/// What the colours of the graph mean: the error scale, or the words behind the colours. GUI thread
/// only.
class Legend : public QWidget
{
    Q_OBJECT

public:
    explicit Legend(QWidget* parent);
    void setStyle(const GraphStyle& style);
    /// The width of the pane it lies on: a narrow pane gets a narrow scale.
    void setRoom(int width);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    std::vector<LegendEntry> m_entries;
    bool m_scale = false;
    int m_room = 960;
    double m_best = 0, m_worst = 0;
};

} // namespace qs
