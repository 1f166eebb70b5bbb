// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTreeWidget>

namespace qs {

class ColumnFit;
class ProposedCures;

/// The cures of the chosen causes, each with a switch, its gain and its cost. A switch is one step
/// of the history. The gain of the current cure is measured if previews are available.
/// GUI thread only.
class CureList : public QTreeWidget
{
    Q_OBJECT

public:
    CureList(ProposedCures& cures, QWidget* parent);

protected:
    void leaveEvent(QEvent* event) override;

private:
    void refresh();

    ProposedCures& m_cures;
    ColumnFit* m_fit;
    QStringList m_shown; ///< texts of the rows
};

} // namespace qs
