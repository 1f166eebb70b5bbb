// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

class QWidget;

namespace qs {

class Actions;
class GuidePanel;
class Workspace;

/// Help for the widget under the pointer or with the focus, and the list of first steps. GUI thread
/// only.
class HelpActions : public QObject
{
    Q_OBJECT

public:
    /// `window`: the window to explain.
    HelpActions(Actions& actions, Workspace& workspace, QWidget& window, QObject* parent);

    /// The list of first steps, for the window to place.
    GuidePanel& guide() const { return *m_guide; }

    /// Opens a help page. `term`: text to mark on the page; empty: none.
    void showTopic(const QString& place, const QString& term = {});

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void buildGuide(Workspace& workspace);
    void showHere(const QWidget* keyboard);
    void showKeys();
    void showAbout();

    Actions& m_actions;
    QWidget& m_window;
    GuidePanel* m_guide = nullptr;
};

} // namespace qs
