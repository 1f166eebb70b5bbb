// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <vector>

class QWidget;

namespace qs {

class Actions;
class CommandPalette;
class MessageBar;
struct PaletteItem;
class Workspace;

/// Items of the command palette: every action of the menus, backends, recent files, help topics and
/// their terms; for assigning: every qconfig at every scope of the selection. GUI thread only.
class PaletteActions : public QObject
{
    Q_OBJECT

public:
    /// `graph` gets the focus after an assignment.
    PaletteActions(Actions& actions, Workspace& workspace, MessageBar& messages, QWidget& graph,
                   QWidget& window, QObject* parent);

Q_SIGNALS:
    void helpWanted(const QString& place, const QString& term);

private:
    std::vector<PaletteItem> commands();
    std::vector<PaletteItem> assignments();

    Actions& m_actions;
    Workspace& m_workspace;
    QWidget& m_graph;
    CommandPalette* m_palette;
};

} // namespace qs
