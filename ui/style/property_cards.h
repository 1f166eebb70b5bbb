// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QFrame>
#include <QLabel>
#include <QPointer>
#include <QString>

#include <array>
#include <vector>

class QGridLayout;
class QPushButton;
class QVBoxLayout;

namespace qs {

class ElidedLabel;
class FractionBar;

/// A titled box of rows in the right-hand panel. Rows are reused, because making and styling
/// widgets is the slowest part of a selection. GUI thread only.
class Card : public QFrame
{
    Q_OBJECT

public:
    Card(const QString& title, QWidget* parent);

    /// Lays out the rows now, not in the next turn of the event loop. Call it after the card has
    /// its size.
    void layOut();

    /// Scope in which rows are added. Its end hides the remaining rows of the previous filling.
    class Filling
    {
    public:
        explicit Filling(Card& card)
            : m_card(card)
        {
            m_card.beginRows();
        }
        ~Filling() { m_card.endRows(); }
        Filling(const Filling&) = delete;
        Filling& operator=(const Filling&) = delete;

    private:
        Card& m_card;
    };

    /// A muted label and a value in the fixed-width font, elided in the middle with the whole text
    /// as tool tip.
    void addRow(const QString& label, const QString& value);
    /// Owns the widget until the next filling.
    void addRow(const QString& label, QWidget* value);
    /// A value over the full width, in the style of a row.
    void addWide(const QString& value);
    void addWide(QWidget* value); ///< owned until the next filling
    /// A paragraph over the full width.
    QLabel* addText(const QString& text, bool muted = false);
    /// A label, a bar of `fraction` of the width, a figure. `faded`: the figure is stale.
    void addBar(const QString& label, double fraction, const QColor& color, const QString& figure,
                bool faded);
    /// A word on a filled pill.
    void addPill(const QString& text, const QColor& fill);
    /// A small button at the right, below the previous row.
    QPushButton* addButton(const QString& text);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    enum Kind
    {
        LabelKind,
        ValueKind,
        TextKind,
        BarKind,
        FigureKind,
        PillKind,
        ButtonKind,
        KindCount
    };
    struct Kept
    {
        QWidget* widget = nullptr;
        int row = -1, column = -1; ///< position in the grid
    };
    void beginRows();
    void endRows();
    /// Places a widget of that kind in the row: one of an earlier filling, or a new one from
    /// `make`.
    template<class Widget, class Make>
    Widget* place(Kind kind, int column, int columns, Qt::Alignment alignment, const Make& make);
    QLabel* placeLabel(const QString& text);
    ElidedLabel* placeValue(const QString& value, int column, int columns);
    void placeGiven(QWidget* value, int column, int columns);

    QVBoxLayout* m_column;
    QWidget* m_body;
    QGridLayout* m_grid;
    int m_row = 0; ///< the row being filled
    std::array<std::vector<Kept>, KindCount> m_kept;
    std::array<std::size_t, KindCount> m_used {};
    std::vector<QPointer<QWidget>> m_given; ///< given by callers, for this filling
};

/// A word on a filled pill.
class Pill : public QLabel
{
    Q_OBJECT

public:
    explicit Pill(QWidget* parent);
    void setFill(const QColor& fill);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QColor m_fill;
};

/// A bar that is filled in part.
class FractionBar : public QWidget
{
    Q_OBJECT

public:
    explicit FractionBar(QWidget* parent);
    void set(double fraction, const QColor& color, bool faded);
    double fraction() const { return m_fraction; }
    const QColor& color() const { return m_color; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    double m_fraction = 0;
    QColor m_color;
    bool m_faded = false;
};

/// A label that shortens its text to its width; the whole text is its tool tip.
class ElidedLabel : public QLabel
{
    Q_OBJECT

public:
    ElidedLabel(const QString& text, const QFont& font, QWidget* parent);
    void setText(const QString& text);
    void setColor(const QColor& ink);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    /// Cached widths of a text in a font; they are needed at each layout and paint.
    struct Measured
    {
        QString text;
        QFont font;
        int advance = -1, room = -1; ///< pixels; -1 if not measured yet
        QString shown; ///< elided to `room`
    };
    Measured& measured() const;

    mutable Measured m_measured;
};

} // namespace qs
