// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/frame/focus_keeper.h"

#include <QApplication>

namespace qs {

FocusKeeper::FocusKeeper(QWidget* window, QWidget* home)
    : QObject(window)
    , m_window(window)
    , m_home(home)
{
    connect(qApp, &QApplication::focusChanged, this, &FocusKeeper::follow);
}

void FocusKeeper::follow(QWidget* old, QWidget* now)
{
    // A widget that is being deleted may still be visible; then no other widget has the focus.
    if (!old || (old->isVisible() && now) || old == m_home || old->window() != m_window
        || (now && now->window() != m_window))
        return;
    // Queued, so that it replaces Qt's choice.
    QMetaObject::invokeMethod(
        this,
        [this, fallen = QPointer<QWidget>(now)] {
            const bool isStill = QApplication::focusWidget() == fallen.data();
            if (isStill && m_home && m_home->isVisible() && m_window->isActiveWindow())
                m_home->setFocus();
        },
        Qt::QueuedConnection);
}

} // namespace qs
