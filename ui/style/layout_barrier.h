// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

namespace qs {

/// Holds one widget, which fills it. A change of the widget's size hints does not lay out anything
/// outside. Owns the widget.
class LayoutBarrier : public QWidget
{
    Q_OBJECT

public:
    LayoutBarrier(QWidget* held, QWidget* parent);
    QSize sizeHint() const override { return m_held->sizeHint(); }
    QSize minimumSizeHint() const override { return m_held->minimumSizeHint(); }

protected:
    void resizeEvent(QResizeEvent*) override { m_held->resize(size()); }

private:
    QWidget* m_held;
};

} // namespace qs
