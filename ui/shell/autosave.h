// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/shell/steps_under_way.h"

#include <QObject>
#include <QTimer>

namespace qs {

class MessageBar;
class ProjectFiles;
class Workspace;

/// Saves unsaved decisions to a file in the user's data folder: one second after each step and
/// every 30 seconds. A step is recorded before it is applied and confirmed afterwards: if it
/// crashes the program, the next start names it and offers to leave it out. GUI thread only.
class Autosave : public QObject
{
    Q_OBJECT

public:
    Autosave(Workspace& workspace, const ProjectFiles& files, QObject* parent);

    /// After a crash: offers the saved decisions on the open model or project.
    void offer(MessageBar& messages);
    /// Deletes the saved decisions: they were saved by the user, or discarded.
    void forget();
    /// Deletes the record of the steps, after they were applied or when the model is closed.
    void endSteps();

private:
    void note(const Recipe& next, const QString& step);
    /// True if all decisions are applied.
    bool isApplied() const;
    void keep();
    void setAside(const QString& file) const;
    void dropOffered(const QString& file) const;
    /// `recipe`: in place of the file's; `name`: of the step in the history.
    void restore(const QString& file, const std::optional<Recipe>& recipe, const QString& name,
                 MessageBar& messages);

    Workspace& m_workspace;
    const ProjectFiles& m_files;
    std::optional<StepsUnderWay> m_steps;
    QTimer m_soon, m_regular;
};

} // namespace qs
