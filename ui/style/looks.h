// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QList>
#include <QString>

class QApplication;

namespace qs {

/// Colours and text size as the user chose them. A value.
struct Looks
{
    enum class Colours
    {
        System, ///< as the desktop was when the program started
        Light,
        Dark
    };
    Colours colours = Colours::System;
    int textPercent = 100;
    friend bool operator==(const Looks&, const Looks&) = default;
};

/// The text sizes that are offered, in percent, 80 to 200.
const QList<int>& textSizes();
/// "Light", "Dark", "As the system".
QString coloursText(Looks::Colours colours);

/// From the settings; values that are not offered count as not set.
Looks keptLooks();
void keepLooks(const Looks& looks);
/// The looks that `applyLooks` last applied.
const Looks& looksInUse();
/// Theme, fonts and style sheet of the program. Windows that are there already are made anew by
/// `MainWindow::changeLooks`. GUI thread only.
void applyLooks(QApplication& app, const Looks& looks);

} // namespace qs
