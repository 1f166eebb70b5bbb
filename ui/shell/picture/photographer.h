// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QSize>
#include <QString>
#include <QTimer>

namespace qs {

class MainWindow;

/// What a screenshot is to show.
struct ScreenshotOrder
{
    QString file; ///< the picture is written there
    QString model; ///< opened by the caller; empty: none
    QString select; ///< a node's name or a module's path; empty: none
    QSize size; ///< requested size of the window; empty: the default
    bool compares = false; ///< it waits for the comparison
};

/// Prints a note if the window is larger than requested: it cannot be smaller than its panels.
void sayWhereEnlarged(const QWidget& window, const QSize& wanted);

/// Drives the window for a screenshot: waits for the model, selects if requested, waits for layout,
/// paint and the updates after a selection, writes and ends the program.
class Photographer : public QObject
{
    Q_OBJECT

public:
    Photographer(MainWindow& window, ScreenshotOrder order);

private:
    void step();
    void select();

    MainWindow& m_window;
    ScreenshotOrder m_order;
    QElapsedTimer m_clock;
    QTimer m_timer;
    bool m_selected = false;
    int m_quiet = 0;
    double m_resultSeconds = 0; ///< when a comparison was first shown
};

} // namespace qs
