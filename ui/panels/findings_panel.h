// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTreeWidget>

namespace qs {

class Workspace;

/// All that wants a second look: what the plan warns of (rules that matched nothing, conflicts,
/// dropped qconfigs), and after a conversion what lowering left behind. A click selects the node.
/// GUI thread only.
class FindingsPanel : public QTreeWidget
{
    Q_OBJECT

public:
    explicit FindingsPanel(Workspace& workspace, QWidget* parent = nullptr);
    int count() const { return m_count; }

Q_SIGNALS:
    void countChanged(int count);
    /// A row was chosen: bring its node into view.
    void revealWanted();

private:
    struct Finding
    {
        QString node; ///< name, or empty
        QString text;
    };
    void refresh();
    void addSection(const QString& title, const QString& name,
                    const std::vector<Finding>& findings);
    void choose(QTreeWidgetItem* item);

    Workspace& m_workspace;
    int m_count = -1;
};

} // namespace qs
