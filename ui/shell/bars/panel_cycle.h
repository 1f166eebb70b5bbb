// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <vector>

class QWidget;

namespace qs {

class Actions;

/// F6 and Shift+F6: move the focus to the next or previous visible panel. GUI thread
/// only.
class PanelCycle : public QObject
{
    Q_OBJECT

public:
    struct Panel
    {
        QWidget* widget;
        std::vector<QWidget*> takers; ///< inside it; the first that can gets the focus
    };
    /// `panels`: in the order of F6.
    PanelCycle(Actions& actions, std::vector<Panel> panels, QObject* parent);

private:
    void step(int direction);

    std::vector<Panel> m_panels;
};

} // namespace qs
