// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLabel;
class QToolButton;

namespace qs {

class ColourBox;
class FormBar;

/// The controls of the graph in a row above its canvas, in more rows where there is less room: the
/// form of each view, what the colours mean, the minimap's switch, and a note on the form. GUI
/// thread only.
class GraphHeader : public QWidget
{
    Q_OBJECT

public:
    explicit GraphHeader(QWidget* parent);

    FormBar& formBar() { return *m_formBar; }
    /// Of the view beside; hidden unless there is one.
    FormBar& otherBar() { return *m_otherBar; }
    ColourBox& colourBox() { return *m_colourBox; }
    /// Whether the minimap is wanted; kept in the settings.
    bool isMapWanted() const;
    void setNote(const QString& note);
    /// Lays everything out over a width; `otherLeft` is where the view beside begins. Returns the
    /// height that it takes.
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
