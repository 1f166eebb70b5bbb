// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/bars/panel_cycle.h"

#include "ui/frame/actions.h"

#include <QAction>
#include <QApplication>
#include <QWidget>

#include <algorithm>

namespace qs {

PanelCycle::PanelCycle(Actions& actions, std::vector<Panel> panels, QObject* parent)
    : QObject(parent)
    , m_panels(std::move(panels))
{
    connect(&actions[ActionId::NextPanel], &QAction::triggered, this, [this] { step(1); });
    connect(&actions[ActionId::PreviousPanel], &QAction::triggered, this, [this] { step(-1); });
}

void PanelCycle::step(int direction)
{
    const QWidget* now = QApplication::focusWidget();
    const auto count = int(m_panels.size());
    int at = direction > 0 ? -1 : count;
    for (int i = 0; i < count; ++i)
        if (const QWidget* panel = m_panels[std::size_t(i)].widget;
            now && (panel == now || panel->isAncestorOf(now)))
            at = i;
    for (int tried = 0; tried < count; ++tried) {
        at = (at + direction + count) % count;
        const auto& takers = m_panels[std::size_t(at)].takers;
        const auto taker = std::find_if(takers.begin(), takers.end(), [](const QWidget* widget) {
            return widget->isVisible() && widget->isEnabled();
        });
        if (taker == takers.end())
            continue;
        (*taker)->setFocus(direction > 0 ? Qt::TabFocusReason : Qt::BacktabFocusReason);
        return;
    }
}

} // namespace qs
