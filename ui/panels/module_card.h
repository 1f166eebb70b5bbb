// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/panels/property_cards.h"

namespace qs {

class Workspace;

/// What the selected module holds and computes: parameters, multiply-accumulates, bytes before and
/// after. Hidden for anything but a module. GUI thread only.
class ModuleCard : public Card
{
    Q_OBJECT

public:
    ModuleCard(Workspace& workspace, QWidget* parent);
    void refresh();

private:
    Workspace& m_workspace;
};

} // namespace qs
