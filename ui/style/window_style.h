// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QList>
#include <QString>

class QApplication;

namespace qs {

/// Colours and text size as the user chose them. A value.
struct WindowStyle
{
    enum class Colours
    {
        System, ///< as the desktop was when the program started
        Light,
        Dark
    };
    Colours colours = Colours::System;
    int textPercent = 100;
    friend bool operator==(const WindowStyle&, const WindowStyle&) = default;
};

/// The text sizes that are offered, in percent, 80 to 200.
const QList<int>& textSizes();
/// "Light", "Dark", "As the system".
QString coloursText(WindowStyle::Colours colours);

/// From the settings; values that are not offered count as not set.
WindowStyle savedStyle();
void saveStyle(const WindowStyle& style);
/// The style that `applyStyle` last applied.
const WindowStyle& styleInUse();
/// Theme, fonts and style sheet of the program. Windows that are there already are made anew by
/// `MainWindow::changeStyle`. GUI thread only.
void applyStyle(QApplication& app, const WindowStyle& style);

} // namespace qs
