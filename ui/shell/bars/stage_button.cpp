// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/bars/stage_button.h"

#include "ui/style/theme.h"

#include <QMouseEvent>
#include <QPainter>

namespace qs {

namespace {

/// Returns the second line, shortened by whole parts until it fits: from the end; while running
/// from the start, as the bar below shows the progress.
QString fitted(const StageStatus& status, const QFontMetrics& metrics, int room)
{
    const QString joint = QStringLiteral(" · ");
    QString line = status.text;
    while (metrics.horizontalAdvance(line) > room && line.contains(joint))
        line = status.state == StageStatus::State::Running ? line.section(joint, 1)
                                                           : line.section(joint, 0, -2);
    return metrics.elidedText(line, Qt::ElideRight, room);
}

} // namespace

StageButton::StageButton(Stage stage, QWidget* parent)
    : StageButton(stageName(stage), stageText(stage), parent)
{
    m_isStoppable = stage != Stage::Plan;
}

StageButton::StageButton(const QString& name, const QString& text, QWidget* parent)
    : QAbstractButton(parent)
{
    setText(text);
    setObjectName(QStringLiteral("stage%1").arg(name));
    setFocusPolicy(Qt::TabFocus);
    setCursor(Qt::PointingHandCursor);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setMaximumWidth(px(190));
}

void StageButton::setStatus(const StageStatus& status, bool attention)
{
    m_status = status;
    m_attention = attention && status.state == StageStatus::State::Done;
    setToolTip(QStringLiteral("%1: %2").arg(text(), status.text));
    update();
}

QSize StageButton::sizeHint() const
{
    return {px(168), px(38)};
}

QSize StageButton::minimumSizeHint() const
{
    return {px(60), px(38)};
}

QRectF StageButton::cancelRect() const
{
    return QRectF(width() - 24, 8, 16, 16);
}

void StageButton::mousePressEvent(QMouseEvent* event)
{
    if (m_status.state == StageStatus::State::Running && m_isStoppable
        && cancelRect().adjusted(-4, -4, 4, 4).contains(event->position())) {
        Q_EMIT cancelClicked();
        event->accept();
        return;
    }
    QAbstractButton::mousePressEvent(event);
}

void StageButton::paintEvent(QPaintEvent*)
{
    using State = StageStatus::State;
    const Theme& t = theme();
    QColor fill = t.panel, border = t.border;
    QString mark;
    switch (m_status.state) {
    case State::Done:
        fill = t.doneFill;
        border = t.doneBorder;
        mark = QStringLiteral("✓ ");
        if (m_attention) {
            fill = t.warningFill;
            border = t.warning.lighter(150);
            mark = QStringLiteral("⚠ ");
        }
        break;
    case State::Running:
        fill = t.accentSoft;
        border = t.accent;
        mark = QStringLiteral("● ");
        break;
    case State::Stale:
        fill = t.warningFill;
        border = t.warning.lighter(150);
        mark = QStringLiteral("↻ ");
        break;
    case State::Failed:
        fill = t.dangerFill;
        border = t.danger.lighter(140);
        mark = QStringLiteral("✕ ");
        break;
    case State::Waiting:
        break;
    }
    if (isDown())
        fill = fill.darker(104);
    QPainter p(this);
    p.setRenderHint(QPainter::Antialiasing, true);
    if (!isEnabled())
        p.setOpacity(0.55);
    p.setPen(QPen(underMouse() || hasFocus() ? t.accent : border, 1));
    p.setBrush(fill);
    const QRectF frame = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
    p.drawRoundedRect(frame, 6, 6);
    // A narrow button has small margins.
    const double left = width() < px(100) ? 6 : 12;
    const double room = width() - 2 * left;
    p.setPen(t.text);
    const QFont title = uiFont(12.5, 600);
    p.setFont(title);
    p.drawText(QRectF(left, px(3), room, px(18)), Qt::AlignLeft | Qt::AlignVCenter,
               QFontMetrics(title).elidedText(mark + text(), Qt::ElideRight, int(room)));
    p.setPen(t.muted);
    const QFont small = uiFont(10.5);
    p.setFont(small);
    p.drawText(QRectF(left, px(20), room, px(15)), Qt::AlignLeft | Qt::AlignVCenter,
               fitted(m_status, QFontMetrics(small), int(room)));
    if (m_status.state != State::Running)
        return;
    p.setPen(Qt::NoPen);
    p.setBrush(t.accent);
    p.drawRoundedRect(QRectF(1, height() - 4, (width() - 2) * std::max(m_status.fraction, 0.02), 3),
                      1, 1);
    const QRectF cross = cancelRect().adjusted(4, 4, -4, -4);
    p.setPen(QPen(t.muted, 1.5));
    p.drawLine(cross.topLeft(), cross.bottomRight());
    p.drawLine(cross.topRight(), cross.bottomLeft());
}

} // namespace qs
