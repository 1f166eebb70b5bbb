// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/workspace.h"

#include <QStringList>

namespace qs::test {

/// Connected to every signal of a session: writes down their order, and at each of them looks
/// whether document, hierarchy, facts and selection are of one graph.
class SessionOrder : public QObject
{
public:
    explicit SessionOrder(Workspace& workspace)
        : m_workspace(workspace)
    {
        Document* document = &workspace.document();
        const auto note = [this](const char* name) {
            return [this, name] {
                m_heard << QString::fromLatin1(name);
                if (const QString wrong = disagreement(); !wrong.isEmpty())
                    m_wrong << QStringLiteral("at %1: %2").arg(QString::fromLatin1(name), wrong);
            };
        };
        connect(document, &Document::modelChanged, this, note("model"));
        connect(document, &Document::graphEdited, this, note("graph"));
        connect(document, &Document::recipeChanged, this, note("recipe"));
        connect(document, &Document::settingsChanged, this, note("settings"));
        connect(document, &Document::planChanged, this, note("plan"));
        connect(document, &Document::resultsChanged, this, note("results"));
        connect(document, &Document::savedChanged, this, note("saved"));
        connect(&workspace, &Workspace::treeChanged, this, note("tree"));
        connect(&workspace, &Workspace::factsChanged, this, note("facts"));
        connect(&workspace, &Workspace::filterChanged, this, note("filter"));
        connect(&workspace.selection(), &Selection::changed, this, note("selection"));
    }

    /// The signals since this was last asked for.
    QStringList take() { return std::exchange(m_heard, {}); }
    /// What did not agree at a signal.
    const QStringList& wrong() const { return m_wrong; }

    /// What does not agree now; empty where all does.
    QString disagreement() const
    {
        const Document& document = m_workspace.document();
        const GraphPtr& model = document.model();
        const Selection& selection = m_workspace.selection();
        if (m_workspace.facts().model() != model.get())
            return QStringLiteral("facts of another graph");
        if (m_workspace.foldTree() != document.hierarchy())
            return QStringLiteral("another hierarchy");
        if (!model)
            return selection.isEmpty() ? QString() : QStringLiteral("a selection of nothing");
        for (const NodeId id : selection.nodes())
            if (!model->tryGet(id))
                return QStringLiteral("a selected node that is gone");
        if (selection.current() && !selection.contains(selection.current()))
            return QStringLiteral("a current node that is not selected");
        if (selection.isModule()
            && m_workspace.foldTree()->moduleEntry(selection.modulePath().toStdString()) < 0)
            return QStringLiteral("a selected module that is gone");
        if (selection.edge() && !isEdge(*model, *selection.edge()))
            return QStringLiteral("a selected edge that is gone");
        if (const auto& errors = m_workspace.facts().comparison())
            for (const NodeError& error : errors->nodes)
                if (!model->tryGet(error.node))
                    return QStringLiteral("errors of another graph");
        return {};
    }

private:
    Workspace& m_workspace;
    QStringList m_heard, m_wrong;
};

} // namespace qs::test
