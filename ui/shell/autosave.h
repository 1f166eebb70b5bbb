// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QTimer>

namespace qs {

class MessageBar;
class ProjectFiles;
class Workspace;

/// Keeps decisions that nobody saved in a file of the user's own data folder: a second after each
/// step and every half minute. GUI thread only.
class Autosave : public QObject
{
    Q_OBJECT

public:
    Autosave(Workspace& workspace, const ProjectFiles& files, QObject* parent);

    /// After a crash: offers what was kept of the model or project that is open.
    void offer(MessageBar& messages);
    /// What is open was saved, or its decisions are not wanted.
    void forget();

private:
    void keep();
    void restore(const QString& file, MessageBar& messages);

    Workspace& m_workspace;
    const ProjectFiles& m_files;
    QTimer m_soon, m_regular;
};

} // namespace qs
