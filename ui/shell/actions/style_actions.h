// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/style/window_style.h"

#include <QObject>

class QMenu;

namespace qs {

/// View > Theme and View > Text size: choices that are stored in the settings. GUI thread only.
class StyleActions : public QObject
{
    Q_OBJECT

public:
    /// Adds both menus to `menu`. Object names: "themeDark", "textSize150".
    StyleActions(QMenu& menu, QObject* parent);

Q_SIGNALS:
    void chosen(const WindowStyle& style);
};

} // namespace qs
