// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/workspace.h"
#include "ui/style/property_cards.h"

namespace qs {

/// The parameters, buffers and constants inside the selected node: type, range, first elements, and
/// for large tensors a histogram. Hidden without values. GUI thread only.
class ValuesCard : public Card
{
    Q_OBJECT

public:
    ValuesCard(Workspace& workspace, QWidget* parent);
    void refresh();
    /// True while a value is being read: refresh when it arrives.
    bool isWaiting() const { return m_waiting; }

private:
    void addValue(const QString& name, NodeId node);

    Workspace& m_workspace;
    bool m_waiting = false;
};

} // namespace qs
