// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QPointer>

namespace qs {

class GuidePanel;
class HelpWindow;
class MainWindow;

/// Help for what the pointer or the keyboard is on, and the list of first steps. GUI thread only.
class HelpActions : public QObject
{
    Q_OBJECT

public:
    HelpActions(MainWindow& window, QObject* parent);

    void showTopic(const QString& id);

private:
    void nameTopics();
    void buildGuide();
    void showHere();
    void showKeys();
    void showAbout();

    MainWindow& m_window;
    QPointer<HelpWindow> m_help;
    GuidePanel* m_guide = nullptr;
};

} // namespace qs
