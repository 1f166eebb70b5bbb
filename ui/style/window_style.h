// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QList>
#include <QString>

class QApplication;

namespace qs {

/// The user's choice of colours and text size. A value.
struct WindowStyle
{
    enum class Colours
    {
        System, ///< the desktop's scheme when the program started
        Light,
        Dark
    };
    Colours colours = Colours::System;
    int textPercent = 100;
    friend bool operator==(const WindowStyle&, const WindowStyle&) = default;
};

/// Returns the offered text sizes in percent, 80 to 200.
const QList<int>& textSizes();
/// "Light", "Dark", "As the system".
QString coloursText(WindowStyle::Colours colours);

/// Reads the style from the settings; values that are not offered count as unset.
WindowStyle savedStyle();
void saveStyle(const WindowStyle& style);
/// The style that `applyStyle` last applied.
const WindowStyle& styleInUse();
/// Applies theme, fonts and style sheet to the program. `MainWindow::changeStyle` rebuilds existing
/// windows. GUI thread only.
void applyStyle(QApplication& app, const WindowStyle& style);

} // namespace qs
