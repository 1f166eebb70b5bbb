// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/style/property_cards.h"

#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QGridLayout>
#include <QHash>
#include <QLabel>
#include <QPainter>
#include <QPushButton>

#include <algorithm>

namespace qs {

namespace {

constexpr double kCorner = 6; ///< radius of a card's corners, pixels

void setInk(QWidget& widget, const QColor& ink)
{
    QPalette colours = widget.palette();
    if (colours.color(QPalette::WindowText) == ink)
        return;
    colours.setColor(QPalette::WindowText, ink);
    widget.setPalette(colours);
}

/// A selectable paragraph of a card. A QLabel lays out selectable text at each request of its size;
/// this class does so once per width.
class Paragraph : public QLabel
{
public:
    explicit Paragraph(QWidget* parent)
        : QLabel(parent)
    {
        setWordWrap(true);
        setTextInteractionFlags(Qt::TextSelectableByMouse);
    }
    QSize sizeHint() const override { return {px(kUsualWidth), heightForWidth(px(kUsualWidth))}; }
    QSize minimumSizeHint() const override { return {px(kLeastWidth), fontMetrics().height()}; }
    int heightForWidth(int width) const override
    {
        if (m_text != text() || m_font != font()) {
            m_heights.clear();
            m_text = text();
            m_font = font();
        }
        const auto known = m_heights.find(width);
        return known != m_heights.end() ? *known
                                        : *m_heights.insert(width, QLabel::heightForWidth(width));
    }

private:
    static constexpr double kUsualWidth = 240, kLeastWidth = 60;

    mutable QString m_text; ///< text and font of `m_heights`
    mutable QFont m_font;
    mutable QHash<int, int> m_heights; ///< by width
};

} // namespace

FractionBar::FractionBar(QWidget* parent)
    : QWidget(parent)
{
    setMinimumSize(60, 10);
    setMaximumHeight(10);
}

void FractionBar::set(double fraction, const QColor& color, bool faded)
{
    m_fraction = std::clamp(fraction, 0.0, 1.0);
    m_color = color;
    m_faded = faded;
    update();
}

Pill::Pill(QWidget* parent)
    : QLabel(parent)
{
    setObjectName(QStringLiteral("verdictPill"));
    setFont(uiFont(11.5, 600));
    setContentsMargins(10, 2, 10, 2);
}

void Pill::setFill(const QColor& fill)
{
    m_fill = fill;
    setInk(*this, textOn(fill));
    update();
}

void Pill::paintEvent(QPaintEvent* event)
{
    QPainter p(this);
    p.setRenderHint(QPainter::Antialiasing, true);
    p.setPen(Qt::NoPen);
    p.setBrush(m_fill);
    p.drawRoundedRect(rect(), 9, 9);
    p.end();
    QLabel::paintEvent(event);
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
    if (text == this->text())
        return;
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

ElidedLabel::Measured& ElidedLabel::measured() const
{
    if (m_measured.text != text() || m_measured.font != font())
        m_measured = {text(), font(), -1, -1, {}};
    return m_measured;
}

QSize ElidedLabel::sizeHint() const
{
    int& advance = measured().advance;
    if (advance < 0)
        advance = QFontMetrics(font()).horizontalAdvance(text());
    const int frame = width() - contentsRect().width(); // a style sheet's padding
    return {advance + 2 + frame, minimumSizeHint().height()};
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
    Measured& known = measured();
    if (known.room != room.width()) {
        known.room = room.width();
        known.shown = QFontMetrics(font()).elidedText(text(), Qt::ElideRight, room.width());
    }
    p.drawText(room, Qt::AlignLeft | Qt::AlignVCenter, known.shown);
}

Card::Card(const QString& title, QWidget* parent)
    : QFrame(parent)
    , m_column(makeVBox(this, {13, 9, 13, 11}, 4))
    , m_body(new QWidget(this))
    , m_grid(new QGridLayout(m_body))
{
    setObjectName(QStringLiteral("card%1").arg(title));
    auto* heading = new QLabel(title, this);
    heading->setFont(uiFont(12.5, 600));
    m_column->addWidget(heading);
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setHorizontalSpacing(10);
    m_grid->setVerticalSpacing(5);
    m_grid->setColumnMinimumWidth(0, px(66));
    m_grid->setColumnStretch(1, 1);
    m_column->addWidget(m_body);
}

/// Paints the frame without a style sheet, which would be looked up for every row.
void Card::paintEvent(QPaintEvent*)
{
    QPainter p(this);
    p.setRenderHint(QPainter::Antialiasing, true);
    p.setPen(theme().border);
    p.setBrush(theme().panel);
    p.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), kCorner, kCorner);
}

void Card::beginRows()
{
    for (const QPointer<QWidget>& given : m_given)
        delete given; // before disabling the layout, so that it notices the deletion
    m_given.clear();
    // Otherwise each row that is shown would lay out all cards.
    m_grid->setEnabled(false);
    m_column->setEnabled(false);
    m_row = 0;
    m_used = {};
}

void Card::endRows()
{
    for (std::size_t kind = 0; kind < KindCount; ++kind)
        for (std::size_t i = m_used[kind]; i < m_kept[kind].size(); ++i) {
            QWidget* left = m_kept[kind][i].widget;
            left->hide();
            left->setObjectName(QString());
            if (auto* label = qobject_cast<QLabel*>(left))
                label->clear();
        }
    m_body->setVisible(m_row > 0);
    m_column->setEnabled(true);
    m_grid->setEnabled(true);
    m_body->updateGeometry();
    updateGeometry();
}

void Card::layOut()
{
    m_column->activate();
    m_grid->activate();
}

template<class Widget, class Make>
Widget* Card::place(Kind kind, int column, int columns, Qt::Alignment alignment, const Make& make)
{
    auto& kept = m_kept[kind];
    if (m_used[kind] == kept.size())
        kept.push_back({make()});
    Kept& one = kept[m_used[kind]++];
    if (one.row != m_row || one.column != column) {
        if (one.row >= 0)
            m_grid->removeWidget(one.widget);
        m_grid->addWidget(one.widget, m_row, column, 1, columns, alignment);
        one.row = m_row;
        one.column = column;
    }
    one.widget->show();
    return static_cast<Widget*>(one.widget);
}

QLabel* Card::placeLabel(const QString& text)
{
    auto* label = place<QLabel>(LabelKind, 0, 1, {},
                                [this] { return makeMutedLabel(QString(), 11.5, m_body); });
    label->setText(text);
    return label;
}

ElidedLabel* Card::placeValue(const QString& value, int column, int columns)
{
    auto* label = place<ElidedLabel>(ValueKind, column, columns, {}, [this] {
        return new ElidedLabel(QString(), monoFont(10.5), m_body);
    });
    label->setText(value);
    return label;
}

void Card::placeGiven(QWidget* value, int column, int columns)
{
    m_given.push_back(value);
    m_grid->addWidget(value, m_row, column, 1, columns);
    value->show();
}

void Card::addRow(const QString& label, const QString& value)
{
    placeLabel(label);
    placeValue(value, 1, 2);
    ++m_row;
}

void Card::addRow(const QString& label, QWidget* value)
{
    placeLabel(label);
    placeGiven(value, 1, 2);
    ++m_row;
}

void Card::addWide(const QString& value)
{
    placeValue(value, 0, 3);
    ++m_row;
}

void Card::addWide(QWidget* value)
{
    placeGiven(value, 0, 3);
    ++m_row;
}

QLabel* Card::addText(const QString& text, bool muted)
{
    auto* label = place<Paragraph>(TextKind, 0, 3, {}, [this] {
        auto* made = new Paragraph(m_body);
        made->setFont(uiFont(11.5));
        return made;
    });
    label->setObjectName(QString());
    label->setText(text);
    setInk(*label, muted ? theme().muted : theme().text);
    ++m_row;
    return label;
}

void Card::addBar(const QString& label, double fraction, const QColor& color, const QString& figure,
                  bool faded)
{
    placeLabel(label);
    place<FractionBar>(BarKind, 1, 1, {}, [this] {
        return new FractionBar(m_body);
    })->set(fraction, color, faded);
    auto* number = place<QLabel>(FigureKind, 2, 1, {}, [this] {
        auto* made = new QLabel(m_body);
        made->setFont(monoFont(11));
        made->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
        return made;
    });
    number->setText(figure);
    setInk(*number, faded ? theme().faint : theme().text);
    ++m_row;
}

QPushButton* Card::addButton(const QString& text)
{
    auto* button = place<QPushButton>(ButtonKind, 0, 3, Qt::AlignRight, [this] {
        auto* made = new QPushButton(m_body);
        made->setFont(uiFont(11.5, 600));
        made->setProperty("primary", true);
        return made;
    });
    button->disconnect();
    button->setText(text);
    ++m_row;
    return button;
}

void Card::addPill(const QString& text, const QColor& fill)
{
    auto* pill = place<Pill>(PillKind, 0, 3, Qt::AlignLeft, [this] { return new Pill(m_body); });
    pill->setObjectName(QStringLiteral("verdictPill"));
    pill->setText(text);
    pill->setFill(fill);
    ++m_row;
}

} // namespace qs
