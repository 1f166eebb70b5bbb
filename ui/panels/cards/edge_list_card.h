// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/style/property_cards.h"

class QListWidget;

namespace qs {

class Workspace;

/// The edges of the selected node, to its inputs and readers, each with its quantization.
/// Choosing one inspects it. GUI thread only.
class EdgeListCard : public Card
{
    Q_OBJECT

public:
    EdgeListCard(Workspace& workspace, QWidget* parent);
    void refresh();

private:
    Workspace& m_workspace;
    QListWidget* m_list;
};

} // namespace qs
