// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "ui/session/decisions/edge_decisions.h"
#endif
#include "ui/style/property_cards.h"

class QTreeWidget;
class QTreeWidgetItem;

namespace qs {

class Workspace;
struct Alternative;

/// What the selected value, edge or weight would lose if it were quantized otherwise, without
/// running the model; one click takes an alternative. GUI thread only.
class AlternativesCard : public Card
{
    Q_OBJECT

public:
    AlternativesCard(Workspace& workspace, QWidget* parent);
    void refresh();

private:
    void addSection(const QString& title, ObserverId observer, const SpecTarget& target);
    void addChoice(const Alternative& one, const Alternative* now);
    QTreeWidgetItem& nextRow();
    void clearRow(QTreeWidgetItem& row);
    void offerUse(QTreeWidgetItem& row, const QString& name);
    void take(QTreeWidgetItem* row);

    Workspace& m_workspace;
    QTreeWidget* m_tree;
    std::vector<SpecTarget> m_targets; ///< of the rows' sections
    int m_rows = 0; ///< that are in use; others are hidden
    bool m_waiting = false; ///< something is still being worked out
};

} // namespace qs
