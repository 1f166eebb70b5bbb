// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTabWidget>

#include <vector>

namespace qs {

/// Pages in groups, in one row of tabs: the group of the current page shows a tab for each of its
/// pages; every other group shows one tab with its name, which leads to its last shown page. Fits
/// many pages without scroll arrows, except with large text in a small window.
/// GUI thread only.
class GroupedTabs : public QTabWidget
{
    Q_OBJECT

public:
    explicit GroupedTabs(QWidget* parent);

    /// Pages added from now on belong to this group.
    void beginGroup(const QString& name);
    void addPage(QWidget* page, const QString& text);
    /// Sets the number that a page's tab shows: "Findings (3)".
    void setCount(QWidget* page, int count);

private:
    struct Page
    {
        QString text;
        int group = 0;
        int count = 0;
    };
    struct Group
    {
        QString name;
        int shown = -1; ///< its page that was shown last
    };
    void refresh();
    void scrollToCurrent();
    QString textOf(int page) const;

    std::vector<Group> m_groups;
    std::vector<Page> m_pages; ///< by the index of their tab
};

} // namespace qs
