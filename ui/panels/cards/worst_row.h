// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/graph/graph.h"
#endif

#include <QWidget>

#include <array>

class QToolButton;

namespace qs {

class Workspace;

/// The three nodes at which most noise is born, with their SQNR; a click selects one. GUI thread
/// only.
class WorstRow : public QWidget
{
    Q_OBJECT

public:
    WorstRow(Workspace& workspace, QWidget* parent);
    /// Shows the nodes of the shown comparison; none if `isShown` is false.
    void refresh(bool isShown);
    /// The first node in words; empty without any.
    QString words() const;

Q_SIGNALS:
    /// A node was selected: bring it into view in the graph.
    void revealWanted();

private:
    Workspace& m_workspace;
    std::array<QToolButton*, 3> m_buttons {};
    std::array<NodeId, 3> m_nodes;
};

} // namespace qs
