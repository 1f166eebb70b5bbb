// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/workspace.h"
#include "ui/style/property_cards.h"

class QTreeWidget;

namespace qs {

/// The values inside the selected custom module, cell by cell, with their parameters and
/// errors; choosing one shows its histogram. Hidden for other nodes. GUI thread only.
class InteriorCard : public Card
{
    Q_OBJECT

public:
    InteriorCard(Workspace& workspace, QWidget* parent);
    void refresh();

private:
    Workspace& m_workspace;
    QTreeWidget* m_tree;
    bool m_filling = false;
};

} // namespace qs
