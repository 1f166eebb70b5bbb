// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

class QMenu;

namespace qs {

class MainWindow;

/// View > Theme and View > Text size: choices that are kept in the settings. GUI thread only.
class LooksActions : public QObject
{
    Q_OBJECT

public:
    /// Adds both menus to `menu`. Object names: "themeDark", "textSize150".
    LooksActions(MainWindow& window, QMenu& menu, QObject* parent);
};

} // namespace qs
