// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/shell/steps_under_way.h"

#include <QObject>
#include <QTimer>

namespace qs {

class MessageBar;
class ProjectFiles;
class Workspace;

/// Keeps decisions that nobody saved in a file of the user's own data folder: a second after each
/// step and every half minute. Before a step is applied, it is noted as under way, until it went
/// well: after a crash that it caused it can be left out, by name. GUI thread only.
class Autosave : public QObject
{
    Q_OBJECT

public:
    Autosave(Workspace& workspace, const ProjectFiles& files, QObject* parent);

    /// After a crash: offers what was kept of the model or project that is open.
    void offer(MessageBar& messages);
    /// What is open was saved, or its decisions are not wanted.
    void forget();
    /// What is open is left: no step is under way.
    void endSteps();

private:
    void note(const Recipe& next, const QString& step);
    /// Nothing of what was decided is still to be applied.
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
