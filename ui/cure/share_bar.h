// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QString>
#include <QWidget>

#include <vector>

namespace qs {

class ShownCauses;

/// The outputs' noise as one bar, cut by cause, each part with its name and share. A click, or
/// arrow keys and Return, choose a cause. GUI thread only.
class ShareBar : public QWidget
{
    Q_OBJECT

public:
    ShareBar(ShownCauses& causes, QWidget* parent);
    /// A part of the bar, left to right. The last part may be the rest, which has no cause.
    struct Part
    {
        QString text; ///< "outlier channel 61.0 %"
        QString tip;
        QColor color;
        double share = 0;
        bool isRest = false;
        QRect place; ///< in the widget
    };
    const std::vector<Part>& parts() const { return m_parts; }
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void refresh();
    void place();
    int partAt(const QPoint& point) const;
    void chooseAt(int part);
    bool isChosen(int part) const;

    ShownCauses& m_causes;
    std::vector<Part> m_parts;
    int m_current = 0; ///< the part that keys choose
};

} // namespace qs
