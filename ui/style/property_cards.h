// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QFrame>
#include <QLabel>
#include <QString>

class QGridLayout;
class QPushButton;
class QVBoxLayout;

namespace qs {

/// A titled box of rows, as the right-hand panel is made of. GUI thread only.
class Card : public QFrame
{
    Q_OBJECT

public:
    Card(const QString& title, QWidget* parent);

    /// A muted label and a value in the fixed-width font, elided in the middle with the whole text
    /// as tool tip.
    void addRow(const QString& label, const QString& value);
    void addRow(const QString& label, QWidget* value);
    /// Over the full width; a text as in a row.
    void addWide(const QString& value);
    void addWide(QWidget* value);
    /// A paragraph over the full width.
    QLabel* addText(const QString& text, bool muted = false);
    /// A label, a bar of `fraction` of the width, a figure. Faded when the figure is old.
    void addBar(const QString& label, double fraction, const QColor& color, const QString& figure,
                bool faded);
    /// A word on a filled pill.
    void addPill(const QString& text, const QColor& fill);
    /// A small button at the right, below what is there.
    QPushButton* addButton(const QString& text);
    void clearRows();

private:
    QVBoxLayout* m_column;
    QWidget* m_body = nullptr;
    QGridLayout* m_grid = nullptr;
};

/// A bar that is filled in part.
class FractionBar : public QWidget
{
    Q_OBJECT

public:
    FractionBar(double fraction, const QColor& color, bool faded, QWidget* parent);
    double fraction() const { return m_fraction; }
    const QColor& color() const { return m_color; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    double m_fraction;
    QColor m_color;
    bool m_faded;
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
};

} // namespace qs
