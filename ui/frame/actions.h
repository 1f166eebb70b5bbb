// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/frame/action_id.h"

#include <QObject>

#include <array>

class QAction;
class QMainWindow;
class QMenu;

namespace qs {

/// Every command of the window, and the menus that hold them. Built once; the window connects and
/// enables them. GUI thread only.
class Actions : public QObject
{
    Q_OBJECT

public:
    explicit Actions(QMainWindow& window);
    QAction& operator[](ActionId id) const { return *m_all[std::size_t(id)]; }
    QMenu& recentMenu() const { return *m_recent; }
    QMenu& viewMenu() const;
    /// Enables or disables the commands that need an open model.
    void setModelOpen(bool open);
    /// All actions in the order of the menus.
    const std::array<QAction*, kActionCount>& all() const { return m_all; }
    /// The title of an action's menu: "Run".
    static QString menuOf(const QAction& action);

private:
    std::array<QAction*, kActionCount> m_all {};
    QMenu* m_recent;
};

} // namespace qs
