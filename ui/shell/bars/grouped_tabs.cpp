// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/bars/grouped_tabs.h"

#include <QSignalBlocker>
#include <QTabBar>

namespace qs {

GroupedTabs::GroupedTabs(QWidget* parent)
    : QTabWidget(parent)
{
    setUsesScrollButtons(true); // for large text: elided tabs would not be readable
    setElideMode(Qt::ElideNone);
    connect(this, &QTabWidget::currentChanged, this, &GroupedTabs::refresh);
}

void GroupedTabs::beginGroup(const QString& name)
{
    m_groups.push_back({name});
}

void GroupedTabs::addPage(QWidget* page, const QString& text)
{
    m_pages.push_back({text, int(m_groups.size()) - 1});
    addTab(page, text);
    refresh();
}

void GroupedTabs::setCount(QWidget* page, int count)
{
    const int index = indexOf(page);
    if (index < 0)
        return;
    m_pages[std::size_t(index)].count = count;
    refresh();
}

QString GroupedTabs::textOf(int index) const
{
    const Page& page = m_pages[std::size_t(index)];
    return page.count > 0 ? tr("%1 (%2)").arg(page.text).arg(page.count) : page.text;
}

void GroupedTabs::refresh()
{
    const int current = currentIndex();
    if (current < 0 || m_pages.size() != std::size_t(count()))
        return;
    setTabVisible(current, true); // first: hiding a current tab changes the current page
    const int open = m_pages[std::size_t(current)].group;
    m_groups[std::size_t(open)].shown = current;
    for (int group = 0; group < int(m_groups.size()); ++group) {
        QStringList inside;
        int things = 0, first = -1;
        for (int i = 0; i < count(); ++i)
            if (m_pages[std::size_t(i)].group == group) {
                inside << textOf(i);
                things += m_pages[std::size_t(i)].count;
                first = first < 0 ? i : first;
            }
        auto& [name, shown] = m_groups[std::size_t(group)];
        shown = shown < 0 ? first : shown;
        for (int i = 0; i < count(); ++i) {
            if (m_pages[std::size_t(i)].group != group)
                continue;
            setTabText(i,
                       group == open    ? textOf(i)
                           : things > 0 ? tr("%1 (%2) ›").arg(name).arg(things)
                                        : tr("%1 ›").arg(name));
            setTabToolTip(i, group == open ? textOf(i) : inside.join(QStringLiteral(", ")));
            setTabVisible(i, group == open || i == shown);
        }
    }
    scrollToCurrent();
}

/// The tab bar scrolls only when its current tab changes, not when other tabs come or go.
void GroupedTabs::scrollToCurrent()
{
    const int current = currentIndex();
    const QSignalBlocker quiet(tabBar());
    for (int other = 0; other < count(); ++other)
        if (other != current && isTabVisible(other)) {
            tabBar()->setCurrentIndex(other);
            break;
        }
    tabBar()->setCurrentIndex(current);
}

} // namespace qs
