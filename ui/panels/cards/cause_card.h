// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/workspace.h"
#include "ui/style/property_cards.h"

namespace qs {

/// The selection's share of the outputs' noise, its cause, and a button for the cheapest cure.
/// Hidden until causes are found, and if the selection quantizes nothing. GUI thread only.
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
