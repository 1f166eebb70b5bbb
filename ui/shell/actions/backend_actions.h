// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/base/strong_id.h"
#include "engine/configure/backend_config.h"
#endif

#include <QObject>

class QMainWindow;

namespace qs {

class Actions;
class MessageBar;
class OpenedFiles;
class Workspace;

/// Edits of the recipe's backend: its editor, and adding a fusion that a node lacks. GUI
/// thread only.
class BackendActions : public QObject
{
    Q_OBJECT

public:
    BackendActions(Actions& actions, Workspace& workspace, const OpenedFiles& files,
                   MessageBar& messages, QMainWindow& window, QObject* parent);

    /// Applies the plan's suggestion for the node: a qconfig that fits, or a missing backend
    /// entry.
    void applySuggestion(NodeId node);
    /// Opens the editor with a backend without patterns. After saving, the recipe names it.
    void startEmpty();

private:
    void edit();
    void openEditor(const Result<Backend>& backend, int entry);

    Workspace& m_workspace;
    const OpenedFiles& m_files;
    MessageBar& m_messages;
    QMainWindow& m_window;
};

} // namespace qs
