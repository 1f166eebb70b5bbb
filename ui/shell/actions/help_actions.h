// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QPointer>

class QWidget;

namespace qs {

class Actions;
class GuidePanel;
class HelpWindow;
class Workspace;

/// Help for what the pointer or the keyboard is on, and the list of first steps. GUI thread only.
class HelpActions : public QObject
{
    Q_OBJECT

public:
    /// `window`: whose parts are explained.
    HelpActions(Actions& actions, Workspace& workspace, QWidget& window, QObject* parent);

    /// The list of first steps, to be put where there is room for it.
    GuidePanel& guide() const { return *m_guide; }

    void showTopic(const QString& id);

private:
    void nameTopics();
    void buildGuide(Workspace& workspace);
    void showHere();
    void showKeys();
    void showAbout();

    Actions& m_actions;
    QWidget& m_window;
    QPointer<HelpWindow> m_help;
    GuidePanel* m_guide = nullptr;
};

} // namespace qs
