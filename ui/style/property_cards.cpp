// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/style/property_cards.h"

#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QGridLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>

#include <algorithm>

namespace qs {

FractionBar::FractionBar(double fraction, const QColor& color, bool faded, QWidget* parent)
    : QWidget(parent)
    , m_fraction(std::clamp(fraction, 0.0, 1.0))
    , m_color(color)
    , m_faded(faded)
{
    setMinimumSize(60, 10);
    setMaximumHeight(10);
}

void FractionBar::paintEvent(QPaintEvent*)
{
    QPainter p(this);
    p.setRenderHint(QPainter::Antialiasing, true);
    p.setPen(Qt::NoPen);
    p.setBrush(theme().window);
    p.drawRoundedRect(rect(), 3, 3);
    if (m_faded)
        p.setOpacity(0.4);
    p.setBrush(m_color);
    p.drawRoundedRect(QRectF(0, 0, std::max(4.0, width() * m_fraction), height()), 3, 3);
}

ElidedLabel::ElidedLabel(const QString& text, const QFont& font, QWidget* parent)
    : QLabel(parent)
{
    setTextFormat(Qt::PlainText);
    setFont(font);
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    setText(text);
}

void ElidedLabel::setText(const QString& text)
{
    QLabel::setText(text);
    setToolTip(text);
    updateGeometry();
}

void ElidedLabel::setColor(const QColor& ink)
{
    QPalette colours = palette();
    colours.setColor(QPalette::WindowText, ink);
    setPalette(colours);
}

QSize ElidedLabel::sizeHint() const
{
    const QFontMetrics metrics(font());
    const int frame = width() - contentsRect().width(); // a style sheet's padding
    return {metrics.horizontalAdvance(text()) + 2 + frame, minimumSizeHint().height()};
}

QSize ElidedLabel::minimumSizeHint() const
{
    const int frame = height() - contentsRect().height(); // margins and a style sheet's padding
    return {30, QFontMetrics(font()).height() + 2 + frame};
}

void ElidedLabel::paintEvent(QPaintEvent*)
{
    QPainter p(this);
    p.setFont(font());
    p.setPen(palette().color(QPalette::WindowText));
    const QRect room = contentsRect();
    p.drawText(room, Qt::AlignLeft | Qt::AlignVCenter,
               QFontMetrics(font()).elidedText(text(), Qt::ElideRight, room.width()));
}

Card::Card(const QString& title, QWidget* parent)
    : QFrame(parent)
    , m_column(makeVBox(this, {12, 8, 12, 10}, 4))
{
    setObjectName(QStringLiteral("card%1").arg(title));
    setStyleSheet(QStringLiteral("QFrame#card%1 { background: %2; border: 1px solid %3; "
                                 "border-radius: 6px; }")
                      .arg(title, theme().panel.name(), theme().border.name()));
    auto* heading = new QLabel(title, this);
    heading->setFont(uiFont(12.5, 600));
    m_column->addWidget(heading);
    clearRows();
}

void Card::clearRows()
{
    delete m_body;
    m_body = new QWidget(this);
    m_grid = new QGridLayout(m_body);
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setHorizontalSpacing(10);
    m_grid->setVerticalSpacing(5);
    m_grid->setColumnMinimumWidth(0, px(66));
    m_grid->setColumnStretch(1, 1);
    m_column->addWidget(m_body);
}

void Card::addRow(const QString& label, const QString& value)
{
    addRow(label, new ElidedLabel(value, monoFont(10.5), m_body));
}

void Card::addRow(const QString& label, QWidget* value)
{
    auto* name = makeMutedLabel(label, 11.5, m_body);
    const int row = m_grid->rowCount();
    m_grid->addWidget(name, row, 0);
    m_grid->addWidget(value, row, 1, 1, 2);
}

void Card::addWide(const QString& value)
{
    addWide(new ElidedLabel(value, monoFont(10.5), m_body));
}

void Card::addWide(QWidget* value)
{
    m_grid->addWidget(value, m_grid->rowCount(), 0, 1, 3);
}

QLabel* Card::addText(const QString& text, bool muted)
{
    auto* label = new QLabel(text, m_body);
    label->setFont(uiFont(11.5));
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    if (muted)
        label->setStyleSheet(inkStyle(theme().muted));
    m_grid->addWidget(label, m_grid->rowCount(), 0, 1, 3);
    return label;
}

void Card::addBar(const QString& label, double fraction, const QColor& color, const QString& figure,
                  bool faded)
{
    auto* name = makeMutedLabel(label, 11.5, m_body);
    auto* number = new QLabel(figure, m_body);
    number->setFont(monoFont(11));
    number->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    if (faded)
        number->setStyleSheet(inkStyle(theme().faint));
    const int row = m_grid->rowCount();
    m_grid->addWidget(name, row, 0);
    m_grid->addWidget(new FractionBar(fraction, color, faded, m_body), row, 1);
    m_grid->addWidget(number, row, 2);
}

QPushButton* Card::addButton(const QString& text)
{
    auto* button = new QPushButton(text, m_body);
    button->setFont(uiFont(11.5, 600));
    button->setProperty("primary", true);
    m_grid->addWidget(button, m_grid->rowCount(), 0, 1, 3, Qt::AlignRight);
    return button;
}

void Card::addPill(const QString& text, const QColor& fill)
{
    auto* pill = new QLabel(text, m_body);
    pill->setObjectName(QStringLiteral("verdictPill"));
    pill->setFont(uiFont(11.5, 600));
    pill->setStyleSheet(QStringLiteral("background: %1; color: %2; border-radius: 9px; "
                                       "padding: 2px 10px;")
                            .arg(fill.name(), textOn(fill).name()));
    m_grid->addWidget(pill, m_grid->rowCount(), 0, 1, 3, Qt::AlignLeft);
}

} // namespace qs
