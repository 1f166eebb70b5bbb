// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

class QMainWindow;

namespace qs {

class Actions;
class MessageBar;
class OpenedFiles;
class Workspace;

/// The command "Train": opens the dialog, and reports a training that ends without
/// one. GUI thread only.
class TrainActions : public QObject
{
    Q_OBJECT

public:
    TrainActions(Actions& actions, Workspace& workspace, const OpenedFiles& files,
                 MessageBar& messages, QMainWindow& window, QObject* parent);

    /// Opens the dialog, if the model can be trained.
    void open();

private:
    Workspace& m_workspace;
    const OpenedFiles& m_files;
    QMainWindow& m_window;
};

} // namespace qs
