// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "ui/session/decisions/edge_decisions.h"
#endif
#include "ui/style/property_cards.h"

#include <map>

class QToolButton;
class QTreeWidget;
class QTreeWidgetItem;

namespace qs {

class Workspace;
struct Alternative;

/// The errors of other ways to quantize the selected value, edge or weight, without running the
/// model; one click applies an alternative. GUI thread only.
class AlternativesCard : public Card
{
    Q_OBJECT

public:
    AlternativesCard(Workspace& workspace, QWidget* parent);
    void refresh();
    /// True while some alternatives are being computed: refresh when they arrive.
    bool isWaiting() const { return m_waiting; }

private:
    struct Row
    {
        QString way {}, db {}, gain {}, tip {}, name {}; ///< `name`: of choices only
        int target = -1; ///< index into `m_targets`
        bool isTitle = false, isNow = false;
        bool operator==(const Row&) const = default;
    };
    void fitColumns();
    void addSection(std::vector<Row>& rows, const QString& title, ObserverId observer,
                    const SpecTarget& target);
    Row choiceRow(const Alternative& one, const Alternative* now) const;
    void showRows(const std::vector<Row>& rows);
    QToolButton* newUse();
    void appendRow();
    void fillRow(QTreeWidgetItem& row, const Row& words);
    void take(QTreeWidgetItem* row);

    Workspace& m_workspace;
    QTreeWidget* m_tree;
    QWidget* m_wait; ///< covers the tree while rows are computed
    std::vector<SpecTarget> m_targets; ///< of the rows' sections
    std::vector<Row> m_shown; ///< content of the tree's visible rows; later rows are hidden
    std::map<std::size_t, int> m_rowCounts; ///< last number of rows, by number of sections
    int m_rowHeight = 0, m_headHeight = 0; ///< pixels
    bool m_waiting = false;
};

} // namespace qs
