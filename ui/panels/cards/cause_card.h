// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/workspace.h"
#include "ui/style/property_cards.h"

namespace qs {

/// How much of the outputs' noise the selection makes, why, and a button for the cure that costs
/// least. Hidden before causes were found, and where the selection quantizes nothing. GUI thread
/// only.
class CauseCard : public Card
{
    Q_OBJECT

public:
    CauseCard(Workspace& workspace, QWidget* parent);
    void refresh();

private:
    void showCure(const Cause& cause);

    Workspace& m_workspace;
};

} // namespace qs
