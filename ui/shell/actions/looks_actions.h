// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/style/looks.h"

#include <QObject>

class QMenu;

namespace qs {

/// View > Theme and View > Text size: choices that are kept in the settings. GUI thread only.
class LooksActions : public QObject
{
    Q_OBJECT

public:
    /// Adds both menus to `menu`. Object names: "themeDark", "textSize150".
    LooksActions(QMenu& menu, QObject* parent);

Q_SIGNALS:
    void chosen(const Looks& looks);
};

} // namespace qs
