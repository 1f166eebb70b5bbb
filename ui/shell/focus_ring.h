// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPointer>
#include <QWidget>

namespace qs {

/// A ring around the focus widget of one window, above all widgets and transparent for the mouse.
/// GUI thread only.
class FocusRing : public QWidget
{
    Q_OBJECT

public:
    explicit FocusRing(QWidget* window);
    /// The surrounded widget; null while no widget of the window has the focus.
    QWidget* around() const { return m_around; }

protected:
    void paintEvent(QPaintEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void follow(QWidget* now);
    void place();

    QPointer<QWidget> m_around;
};

} // namespace qs
