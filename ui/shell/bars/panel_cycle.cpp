// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/bars/panel_cycle.h"

#include "ui/frame/actions.h"
#include "ui/graph/view/graph_pane.h"
#include "ui/panels/module_panel.h"
#include "ui/panels/property_panel.h"
#include "ui/panels/recipe/qconfig_editor.h"
#include "ui/shell/bars/pipeline_bar.h"
#include "ui/shell/main_window.h"

#include <QAction>
#include <QApplication>
#include <QTabBar>
#include <QTabWidget>
#include <QTreeView>

namespace qs {

PanelCycle::PanelCycle(MainWindow& window, QObject* parent)
    : QObject(parent)
    , m_window(window)
{
    connect(&window.actions()[ActionId::NextPanel], &QAction::triggered, this, [this] { step(1); });
    connect(&window.actions()[ActionId::PreviousPanel], &QAction::triggered, this,
            [this] { step(-1); });
}

QList<std::pair<QWidget*, QWidget*>> PanelCycle::panels() const
{
    auto& bottom = m_window.bottomTabs();
    auto* properties = &m_window.propertyPanel();
    auto* qconfig = properties->findChild<QWidget*>(QStringLiteral("qconfigBox"));
    auto* start = m_window.findChild<QWidget*>(QStringLiteral("emptyOpen"));
    auto& graph = m_window.graphPane();
    auto* modules = m_window.modulePanel().parentWidget();
    return {{&m_window.pipelineBar(), m_window.findChild<QWidget*>(QStringLiteral("stageOpen"))},
            {start->parentWidget(), start},
            {modules, &m_window.modulePanel().tree()},
            {&graph, &graph.view()},
            {&bottom, bottom.tabBar()},
            {properties,
             qconfig->isEnabled() && qconfig->isVisible()
                 ? qconfig
                 : properties->findChild<QWidget*>(QStringLiteral("propertyScroll"))}};
}

void PanelCycle::step(int direction)
{
    const auto all = panels();
    const QWidget* now = QApplication::focusWidget();
    qsizetype at = direction > 0 ? -1 : all.size();
    for (qsizetype i = 0; i < all.size(); ++i)
        if (now && (all[i].first == now || all[i].first->isAncestorOf(now)))
            at = i;
    for (qsizetype tried = 0; tried < all.size(); ++tried) {
        at = (at + direction + all.size()) % all.size();
        if (!all[at].second->isVisible())
            continue;
        all[at].second->setFocus(direction > 0 ? Qt::TabFocusReason : Qt::BacktabFocusReason);
        return;
    }
}

} // namespace qs
