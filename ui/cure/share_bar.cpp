// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/cure/share_bar.h"

#include "engine/result/part_text.h"
#include "ui/cure/shown_causes.h"
#include "ui/session/text.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>

#include <algorithm>

namespace qs {

namespace {

constexpr int kLeastPartWidth = 5; ///< pixels, so that small parts can be seen and clicked

/// Steps of the golden angle give hues that differ, for any number of causes.
QColor causeColor(CauseCode code)
{
    constexpr int kFirstHue = 210, kStep = 137;
    return QColor::fromHsv((kFirstHue + int(code) * kStep) % 360, 130, 190);
}

} // namespace

ShareBar::ShareBar(ShownCauses& causes, QWidget* parent)
    : QWidget(parent)
    , m_causes(causes)
{
    setNames(*this, "shareBar", tr("Noise of the outputs by cause"));
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setMouseTracking(true);
    setFont(uiFont(11, 600));
    connect(&causes, &ShownCauses::changed, this, &ShareBar::refresh);
    connect(&causes, &ShownCauses::chosenChanged, this, qOverload<>(&QWidget::update));
    refresh();
}

QSize ShareBar::sizeHint() const
{
    return {px(400), px(24)};
}

QSize ShareBar::minimumSizeHint() const
{
    return {px(120), px(24)};
}

void ShareBar::refresh()
{
    m_parts.clear();
    QStringList all;
    for (const CauseGroup& group : m_causes.groups()) {
        const QString name = causeShort(group.code), share = toQString(partText(group.share));
        const QString places = toQString(counted(std::int64_t(group.causes.size()), "place"));
        m_parts.push_back({QStringLiteral("%1 %2").arg(name, share),
                           tr("%1 of the noise of the outputs, %2: %3")
                               .arg(share, places, toQString(causeWords(group.code))),
                           causeColor(group.code), group.share, false, QRect()});
        all << m_parts.back().text;
    }
    if (const double rest = m_causes.rest(); rest >= kLeastPart) {
        const QString share = toQString(partText(rest));
        m_parts.push_back({tr("others %1").arg(share),
                           tr("%1 of the noise of the outputs: places with less than %2 each")
                               .arg(share, toQString(partText(kLeastPart))),
                           theme().border, rest, true, QRect()});
        all << m_parts.back().text;
    }
    m_current = std::clamp(m_current, 0, std::max(0, int(m_parts.size()) - 1));
    setAccessibleDescription(all.join(QStringLiteral(", ")));
    place();
    update();
}

/// Gives each part its width: in proportion to its share, but enough to be seen.
void ShareBar::place()
{
    const int least = px(kLeastPartWidth), free = width() - least * int(m_parts.size());
    double all = 0, before = 0;
    for (const Part& part : m_parts)
        all += part.share;
    int left = 0;
    for (std::size_t i = 0; i < m_parts.size(); ++i) {
        before += m_parts[i].share;
        const int right = i + 1 == m_parts.size()
            ? width()
            : int(i + 1) * least + int(std::max(0, free) * before / all);
        m_parts[i].place = QRect(left, 0, right - left, height());
        left = right;
    }
}

void ShareBar::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    place();
}

bool ShareBar::isChosen(int part) const
{
    return !m_parts[std::size_t(part)].isRest
        && m_causes.groups()[std::size_t(part)].causes == m_causes.chosen();
}

void ShareBar::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QPainterPath outline;
    outline.addRoundedRect(rect(), px(4), px(4));
    painter.setClipPath(outline);
    const int margin = px(7);
    const bool isOld = !m_causes.staleReason().isEmpty();
    for (int i = 0; i < int(m_parts.size()); ++i) {
        const Part& part = m_parts[std::size_t(i)];
        QColor fill = part.color;
        if (isOld)
            fill.setAlphaF(0.45f);
        painter.fillRect(part.place.adjusted(0, 0, i + 1 < int(m_parts.size()) ? -1 : 0, 0), fill);
        const int room = part.place.width() - 2 * margin;
        const QString text
            = room > px(24) ? fontMetrics().elidedText(part.text, Qt::ElideRight, room) : QString();
        painter.setPen(isOld || part.isRest ? theme().text : textOn(part.color));
        painter.drawText(part.place.adjusted(margin, 0, -margin, 0), Qt::AlignVCenter, text);
        if (isChosen(i) || (hasFocus() && i == m_current)) {
            painter.setPen(QPen(theme().text, isChosen(i) ? px(2) : 1));
            painter.setBrush(Qt::NoBrush);
            painter.drawRect(part.place.adjusted(1, 1, -2, -2));
        }
    }
}

int ShareBar::partAt(const QPoint& point) const
{
    for (std::size_t i = 0; i < m_parts.size(); ++i)
        if (m_parts[i].place.contains(point))
            return int(i);
    return -1;
}

void ShareBar::chooseAt(int part)
{
    if (part < 0 || part >= int(m_parts.size()))
        return;
    m_current = part;
    update();
    if (!m_parts[std::size_t(part)].isRest)
        m_causes.choose(m_causes.groups()[std::size_t(part)].causes);
}

void ShareBar::mousePressEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton)
        chooseAt(partAt(event->position().toPoint()));
}

void ShareBar::mouseMoveEvent(QMouseEvent* event)
{
    const int part = partAt(event->position().toPoint());
    const bool isCause = part >= 0 && !m_parts[std::size_t(part)].isRest;
    setCursor(isCause ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void ShareBar::keyPressEvent(QKeyEvent* event)
{
    const int last = int(m_parts.size()) - 1;
    switch (event->key()) {
    case Qt::Key_Left:
        chooseAt(std::max(0, m_current - 1));
        break;
    case Qt::Key_Right:
        chooseAt(std::min(last, m_current + 1));
        break;
    case Qt::Key_Home:
        chooseAt(0);
        break;
    case Qt::Key_End:
        chooseAt(last);
        break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
        chooseAt(m_current);
        break;
    default:
        QWidget::keyPressEvent(event);
    }
}

bool ShareBar::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    auto* help = static_cast<QHelpEvent*>(event);
    const int part = partAt(help->pos());
    if (part >= 0)
        QToolTip::showText(help->globalPos(), m_parts[std::size_t(part)].tip, this,
                           m_parts[std::size_t(part)].place);
    else
        QToolTip::hideText();
    return true;
}

} // namespace qs
