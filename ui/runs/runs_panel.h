// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

namespace qs {

class RunLibrary;
class RunList;
class Workspace;

/// The list of runs, and the table of those side by side. GUI thread only.
class RunsPanel : public QWidget
{
    Q_OBJECT

public:
    RunsPanel(Workspace& workspace, RunLibrary& library, QWidget* parent = nullptr);
    /// Asks for a name and keeps the current result under it.
    void askToKeep();

Q_SIGNALS:
    /// A row was chosen: bring its node into view.
    void revealWanted();

private:
    RunList* m_list;
};

} // namespace qs
