// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/base/strong_id.h"
#endif

#include <QObject>

namespace qs {

class MainWindow;

/// Changing what the recipe's backend can do: its editor, and the fusion that a node lacks. GUI
/// thread only.
class BackendActions : public QObject
{
    Q_OBJECT

public:
    BackendActions(MainWindow& window, QObject* parent);

private:
    void edit();
    /// Does what the plan suggests for the node: a qconfig that fits, or an entry that its backend
    /// lacks.
    void applySuggestion(NodeId node);

    MainWindow& m_window;
};

} // namespace qs
