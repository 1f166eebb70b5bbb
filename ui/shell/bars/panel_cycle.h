// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

class QWidget;

namespace qs {

class MainWindow;

/// F6 and Shift+F6: the keyboard goes round tool bar, modules, graph, lower panel and properties;
/// what is hidden is passed over. GUI thread only.
class PanelCycle : public QObject
{
    Q_OBJECT

public:
    PanelCycle(MainWindow& window, QObject* parent);

private:
    void step(int direction);
    /// The panels in order, each with what takes the keyboard inside it.
    QList<std::pair<QWidget*, QWidget*>> panels() const;

    MainWindow& m_window;
};

} // namespace qs
