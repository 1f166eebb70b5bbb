// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QHash>
#include <QKeySequence>
#include <QObject>

class QAction;
class QMainWindow;
class QMenu;

namespace qs {

/// Every command of the window by name, and the menus that hold them. Built once; the window
/// connects and enables them. GUI thread only.
class Actions : public QObject
{
    Q_OBJECT

public:
    explicit Actions(QMainWindow& window);
    /// The action must exist.
    QAction& operator[](const char* name) const;
    QMenu& recentMenu() const { return *m_recent; }
    QMenu& viewMenu() const { return *m_viewMenu; }
    /// All that need an open model.
    void setModelOpen(bool open);
    /// In the order of the menus.
    const QList<QAction*>& all() const { return m_all; }
    /// The title of the menu that an action stands in: "Run".
    static QString menuOf(const QAction& action);

private:
    struct Spec
    {
        const char* name;
        const char* text;
        const char* tip;
        const char* keys;
        bool needsModel;
    };
    QMenu* addMenu(const QString& title, std::initializer_list<Spec> specs);

    QMainWindow& m_window;
    QHash<QString, QAction*> m_actions;
    QList<QAction*> m_all;
    QList<QAction*> m_needModel;
    QMenu* m_recent = nullptr;
    QMenu* m_viewMenu = nullptr;
};

} // namespace qs
