// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

namespace qs {

class Actions;

/// Three small buttons that hide and show the left, the lower and the right panel. GUI thread only.
class PanelButtons : public QWidget
{
    Q_OBJECT

public:
    PanelButtons(Actions& actions, QWidget* parent);
};

} // namespace qs
