// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLabel;
class QToolButton;

namespace qs {

class ColourBox;
class FormBar;

/// The controls of the graph above its canvas, in one row or more: the form of each view, the
/// meaning of the colours, the minimap's switch, and a note on the form. GUI thread only.
class GraphHeader : public QWidget
{
    Q_OBJECT

public:
    explicit GraphHeader(QWidget* parent);

    FormBar& formBar() { return *m_formBar; }
    /// The form of the second view; hidden without one.
    FormBar& otherBar() { return *m_otherBar; }
    ColourBox& colourBox() { return *m_colourBox; }
    /// True if the user wants the minimap; stored in the settings.
    bool isMapWanted() const;
    void setNote(const QString& note);
    /// Lays out all controls within a width and returns the height. `otherLeft`: left side of the
    /// second view.
    int place(int width, int otherLeft);
    QSize minimumSizeHint() const override;

Q_SIGNALS:
    void mapWantedChanged();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    FormBar* m_formBar;
    FormBar* m_otherBar;
    ColourBox* m_colourBox;
    QToolButton* m_map;
    QLabel* m_note;
};

} // namespace qs
