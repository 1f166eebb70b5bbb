// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/frame/actions.h"

#include "ui/frame/action_icons.h"
#include "ui/frame/action_table.h"

#include <QAction>
#include <QMainWindow>
#include <QMenu>
#include <QMenuBar>

namespace qs {

namespace {

QAction& addAction(QMenu& menu, const ActionSpec& spec)
{
    QAction& action = *menu.addAction(ActionTable::tr(spec.text));
    action.setObjectName(QString::fromLatin1(spec.name));
    action.setToolTip(ActionTable::tr(spec.tip));
    action.setShortcuts(QKeySequence::listFromString(QString::fromLatin1(spec.keys)));
    return action;
}

QMenu& menuAround(const QAction& action)
{
    return *qobject_cast<QMenu*>(action.parent());
}

} // namespace

QString Actions::menuOf(const QAction& action)
{
    return menuAround(action).title().remove(QLatin1Char('&'));
}

Actions::Actions(QMainWindow& window)
    : QObject(&window)
{
    constexpr const auto& kMenus = ActionTable::kMenus;
    for (const auto* menu = std::begin(kMenus); menu != std::end(kMenus); ++menu) {
        QMenu& shown = *window.menuBar()->addMenu(ActionTable::tr(menu->second));
        shown.setToolTipsVisible(true);
        const auto* next = menu + 1;
        const std::size_t end = next == std::end(kMenus) ? kActionCount : std::size_t(next->first);
        for (std::size_t i = std::size_t(menu->first); i < end; ++i) {
            m_all[i] = &addAction(shown, kActionSpecs[i]);
            window.addAction(m_all[i]);
        }
    }
    const Actions& a = *this;
    QMenu& file = menuAround(a[ActionId::Open]);
    m_recent = new QMenu(tr("Open r&ecent"), &file);
    m_recent->setObjectName(QStringLiteral("recentMenu"));
    file.insertMenu(&a[ActionId::Reload], m_recent);
    file.insertSeparator(&a[ActionId::OpenRecipe]);
    file.insertSeparator(&a[ActionId::Quit]);
    for (const ActionId id :
         {ActionId::AgainstOriginal, ActionId::AllLocalTerms, ActionId::CompareAfterEach,
          ActionId::FullScreen, ActionId::BoxRepeats, ActionId::Sideways, ActionId::Guide,
          ActionId::LeafModule, ActionId::OnlyModule, ActionId::WrapModule})
        a[id].setCheckable(true);
    for (const ActionId id : kPanelActions) {
        a[id].setCheckable(true);
        a[id].setChecked(true);
    }
    a[ActionId::KeepFloat].setIcon(floatRuleIcon());
    a[ActionId::LeafModule].setIcon(leafIcon());
    a[ActionId::WrapModule].setIcon(wrapIcon());
    setModelOpen(false);
}

QMenu& Actions::viewMenu() const
{
    return menuAround(*m_all[std::size_t(ActionId::ZoomIn)]);
}

void Actions::setModelOpen(bool open)
{
    for (const ActionSpec& spec : kActionSpecs)
        if (spec.needsModel)
            (*this)[spec.id].setEnabled(open);
}

} // namespace qs
