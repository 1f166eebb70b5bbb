// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/actions/palette_actions.h"

#include "engine/configure/backend_config.h"
#include "ui/frame/actions.h"
#include "ui/frame/message_bar.h"
#include "ui/help/help_topics.h"
#include "ui/session/decisions/assign_scopes.h"
#include "ui/session/decisions/backend_decisions.h"
#include "ui/session/workspace.h"
#include "ui/shell/actions/command_palette.h"

#include <QAction>
#include <QActionGroup>
#include <QMenu>

namespace qs {

PaletteActions::PaletteActions(Actions& actions, Workspace& workspace, MessageBar& messages,
                               QWidget& graph, QWidget& window, QObject* parent)
    : QObject(parent)
    , m_actions(actions)
    , m_workspace(workspace)
    , m_graph(graph)
    , m_palette(new CommandPalette(&window))
{
    connect(&actions[ActionId::Palette], &QAction::triggered, this,
            [this] { m_palette->open(tr("Type what you want to do …"), commands()); });
    connect(&actions[ActionId::Assign], &QAction::triggered, this, [this, &messages] {
        auto items = assignments();
        if (items.empty())
            messages.showMessage(MessageBar::Kind::Note, tr("Nothing is selected"),
                                 tr("Select nodes or a module first"));
        else
            m_palette->open(tr("Assign … (\"float module\", \"x86 all\")"), std::move(items));
    });
}

std::vector<PaletteItem> PaletteActions::commands()
{
    std::vector<PaletteItem> out;
    for (QAction* action : m_actions.all()) {
        if (action == &m_actions[ActionId::Palette])
            continue;
        out.push_back({QStringLiteral("%1: %2").arg(Actions::menuOf(*action),
                                                    action->text().remove(QLatin1Char('&'))),
                       action->toolTip(), action->shortcut().toString(QKeySequence::NativeText),
                       action->isEnabled(), [action] { action->trigger(); }});
    }
    for (QAction* action : m_actions.viewMenu().findChildren<QAction*>())
        if (action->actionGroup())
            out.push_back({QStringLiteral("%1: %2").arg(Actions::menuOf(*action), action->text()),
                           {},
                           {},
                           true,
                           [action] { action->trigger(); }});
    const bool open = m_workspace.document().model() != nullptr;
    for (const auto& name : shippedBackends())
        out.push_back({tr("Backend: %1").arg(QString::fromStdString(name)),
                       backendPurpose(name),
                       {},
                       open,
                       [this, name] { m_workspace.chooseBackend(name); }});
    for (QAction* recent : m_actions.recentMenu().actions())
        out.push_back({tr("Open: %1").arg(recent->toolTip().section(QLatin1Char('/'), -1)),
                       recent->toolTip(),
                       {},
                       true,
                       [recent] { recent->trigger(); }});
    for (const auto& topic : helpTopics())
        out.push_back(
            {tr("Help: %1").arg(topic.title), topic.summary(), {}, true, [this, id = topic.id] {
                 Q_EMIT helpWanted(id, {});
             }});
    for (const auto& term : helpTerms())
        out.push_back({tr("Help: %1").arg(term.text), term.meaning, {}, true, [this, &term] {
                           Q_EMIT helpWanted(term.place, term.text);
                       }});
    return out;
}

std::vector<PaletteItem> PaletteActions::assignments()
{
    std::vector<PaletteItem> out;
    const auto choices = assignChoices(m_workspace);
    const auto scopes = assignScopes(m_workspace);
    for (const bool common : {true, false})
        for (const auto& scope : scopes)
            for (const auto& choice : choices)
                if (choice.common == common)
                    out.push_back({QStringLiteral("%1 → %2").arg(scope.text, choice.text),
                                   choice.qconfigName ? choice.words : tr("removes its own rule"),
                                   {},
                                   true,
                                   [this, target = scope.target, choice] {
                                       m_workspace.assign(target, choice.qconfigName);
                                       m_graph.setFocus(); // for the arrow keys
                                   }});
    return out;
}

} // namespace qs
