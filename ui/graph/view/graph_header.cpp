// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/view/graph_header.h"

#include "ui/graph/style/colour_box.h"
#include "ui/graph/view/form_bar.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QPainter>
#include <QSettings>
#include <QToolButton>

#include <algorithm>

namespace qs {

namespace {

constexpr int kHeaderMargin = 8, kHeaderGap = 6;
const QString kMapKey = QStringLiteral("minimap");

/// Places widgets in rows.
class Rows
{
public:
    /// Places a widget at `x` in the current row; returns the x of the next widget.
    int put(QWidget& widget, int x)
    {
        widget.adjustSize();
        widget.move(x, m_top);
        m_height = std::max(m_height, widget.height());
        return x + widget.width() + kHeaderGap;
    }
    void next()
    {
        m_top += m_height + kHeaderGap;
        m_height = 0;
    }
    int top() const { return m_top; }
    int bottom() const { return m_top + m_height + kHeaderGap; }

private:
    int m_top = kHeaderGap, m_height = 0;
};

} // namespace

GraphHeader::GraphHeader(QWidget* parent)
    : QWidget(parent)
    , m_formBar(new FormBar(QStringLiteral("graphForm"), true, this))
    , m_otherBar(new FormBar(QStringLiteral("otherGraphForm"), false, this))
    , m_colourBox(new ColourBox(this))
    , m_map(new QToolButton(this))
    , m_note(makeMutedLabel(QString(), 11, this))
{
    setObjectName(QStringLiteral("graphHeader"));
    m_note->setObjectName(QStringLiteral("graphNote"));
    m_note->hide();
    setNames(*m_map, "minimapButton", tr("Minimap"),
             tr("Show an overview of the graph while not all of it is visible"));
    m_map->setText(tr("map"));
    m_map->setFont(uiFont(11.5));
    m_map->setCheckable(true);
    m_map->setChecked(QSettings().value(kMapKey, true).toBool());
    connect(m_map, &QToolButton::toggled, this, [this](bool wanted) {
        QSettings().setValue(kMapKey, wanted);
        Q_EMIT mapWantedChanged();
    });
    m_otherBar->hide();
}

bool GraphHeader::isMapWanted() const
{
    return m_map->isChecked();
}

void GraphHeader::setNote(const QString& note)
{
    m_note->setText(note);
    m_note->setVisible(!note.isEmpty());
}

QSize GraphHeader::minimumSizeHint() const
{
    return {m_formBar->sizeHint().width() + 2 * kHeaderMargin, m_formBar->sizeHint().height()};
}

int GraphHeader::place(int width, int otherLeft)
{
    Rows rows;
    int right = rows.put(*m_formBar, kHeaderMargin);
    if (!m_otherBar->isHidden()) {
        // Above the second view, if there is room.
        const int last = width - kHeaderMargin - m_otherBar->sizeHint().width();
        int x = std::max(right, otherLeft + kHeaderMargin);
        if (x > last)
            x = right;
        if (x > last) {
            rows.next();
            x = kHeaderMargin;
        }
        right = rows.put(*m_otherBar, x);
    }
    m_map->adjustSize();
    m_colourBox->fitTo(width - kHeaderMargin - m_map->width() - kHeaderGap - right);
    m_colourBox->adjustSize();
    int left = width - kHeaderMargin - m_map->width() - kHeaderGap - m_colourBox->width();
    if (left < right) {
        rows.next();
        left = std::max(left, kHeaderMargin);
    }
    rows.put(*m_map, rows.put(*m_colourBox, left));
    m_map->move(m_map->x(), rows.top() + (m_colourBox->height() - m_map->height()) / 2);
    if (!m_note->isHidden()) {
        rows.next();
        rows.put(*m_note, kHeaderMargin + kHeaderGap);
    }
    return rows.bottom();
}

void GraphHeader::paintEvent(QPaintEvent*)
{
    QPainter p(this);
    p.fillRect(rect(), theme().panel);
    p.fillRect(0, height() - 1, width(), 1, theme().border);
}

} // namespace qs
