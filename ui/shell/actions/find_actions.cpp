// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/actions/find_actions.h"

#include "ui/frame/actions.h"
#include "ui/frame/message_bar.h"
#include "ui/graph/view/graph_pane.h"
#include "ui/panels/property_panel.h"
#include "ui/panels/search_panel.h"
#include "ui/panels/style_panel.h"
#include "ui/session/search/finder.h"
#include "ui/session/workspace.h"
#include "ui/shell/bars/pipeline_bar.h"
#include "ui/shell/main_window.h"

#include <QAction>
#include <QLineEdit>

namespace qs {

FindActions::FindActions(MainWindow& window, QObject* parent)
    : QObject(parent)
    , m_window(window)
{
    auto& a = window.actions();
    auto& workspace = window.workspace();
    auto& field = window.pipelineBar().search();
    auto& graph = window.graphPane();
    auto* found
        = new SearchPanel(workspace, window.finder(), field, field.parentWidget()->parentWidget());
    found->keepClearOf(window.propertyPanel());
    connect(found, &SearchPanel::revealWanted, &graph, &GraphPane::revealSelection);
    connect(found, &SearchPanel::left, &graph.view(), qOverload<>(&QWidget::setFocus));
    connect(&a[ActionId::Find], &QAction::triggered, &field, [&field] {
        field.setFocus();
        field.selectAll();
    });
    connect(&a[ActionId::FindNext], &QAction::triggered, this, [this] { step(1); });
    connect(&a[ActionId::FindPrevious], &QAction::triggered, this, [this] { step(-1); });
    connect(&a[ActionId::SelectFound], &QAction::triggered, &window.finder(), &Finder::selectAll);
    connect(&a[ActionId::StyleFound], &QAction::triggered, this, [this] {
        m_window.showTab("stylePanel");
        m_window.styles().addRule(m_window.finder().expression().trimmed());
    });
    connect(&a[ActionId::Bookmark], &QAction::triggered, this,
            [&workspace] { workspace.bookmarks().toggle(workspace.selection().nodes()); });
    connect(&a[ActionId::NextBookmark], &QAction::triggered, this, &FindActions::nextBookmark);
}

void FindActions::step(int direction)
{
    auto& finder = m_window.finder();
    if (finder.step(direction)) {
        m_window.graphPane().revealSelection();
        return;
    }
    const bool asked = !finder.expression().trimmed().isEmpty();
    const QString what = !finder.error().isEmpty() ? finder.error()
        : asked ? QStringLiteral("Nothing matches \"%1\"").arg(finder.expression())
                : QStringLiteral("Nothing to find yet: type into the search field (Ctrl+F)");
    m_window.messageBar().showMessage(MessageBar::Kind::Note, what, searchHint());
}

void FindActions::nextBookmark()
{
    auto& workspace = m_window.workspace();
    const auto& nodes = workspace.selection().nodes();
    const NodeId next = workspace.bookmarks().next(nodes.empty() ? NodeId() : nodes.back());
    if (!next) {
        m_window.messageBar().showMessage(
            MessageBar::Kind::Note, QStringLiteral("No bookmarks yet"),
            QStringLiteral("Ctrl+D marks what is selected; is:bookmark finds it"));
        return;
    }
    workspace.selectNode(next);
    m_window.graphPane().revealSelection();
}

} // namespace qs
