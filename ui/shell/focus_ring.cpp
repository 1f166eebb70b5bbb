// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/focus_ring.h"

#include "ui/style/theme.h"

#include <QApplication>
#include <QEvent>
#include <QPainter>

namespace qs {

FocusRing::FocusRing(QWidget* window)
    : QWidget(window)
{
    setObjectName(QStringLiteral("focusRing"));
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setAttribute(Qt::WA_NoSystemBackground);
    setFocusPolicy(Qt::NoFocus);
    hide();
    connect(qApp, &QApplication::focusChanged, this,
            [this](QWidget*, QWidget* now) { follow(now); });
}

void FocusRing::follow(QWidget* now)
{
    // A popup takes the focus temporarily: the ring stays.
    if (QApplication::activePopupWidget())
        return;
    for (QWidget* up = m_around; up && up != window(); up = up->parentWidget())
        up->removeEventFilter(this);
    m_around = now && now != window() && now->window() == window() ? now : nullptr;
    for (QWidget* up = m_around; up && up != window(); up = up->parentWidget())
        up->installEventFilter(this);
    place();
}

void FocusRing::place()
{
    if (!m_around || !m_around->isVisible()) {
        hide();
        return;
    }
    // Clip to the visible part inside all parents.
    QRect seen(m_around->mapTo(window(), QPoint()), m_around->size());
    for (QWidget* up = m_around->parentWidget(); up && up != window(); up = up->parentWidget())
        seen &= QRect(up->mapTo(window(), QPoint()), up->size());
    setGeometry(seen);
    setVisible(!seen.isEmpty());
    raise();
    update();
}

bool FocusRing::eventFilter(QObject* watched, QEvent* event)
{
    switch (event->type()) {
    case QEvent::Move:
    case QEvent::Resize:
    case QEvent::Show:
    case QEvent::Hide:
        place();
        break;
    default:
        break;
    }
    return QWidget::eventFilter(watched, event);
}

void FocusRing::paintEvent(QPaintEvent*)
{
    QPainter p(this);
    p.setRenderHint(QPainter::Antialiasing, true);
    p.setPen(QPen(theme().accent, 2));
    p.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 4, 4);
}

} // namespace qs
