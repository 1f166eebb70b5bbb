// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/view/graph_pane.h"
#include "ui/shell/main_window.h"

#include <QObject>

#include <memory>

namespace qs::test {

/// A test with a separate window on an engine that is not the real one.
template<class Engine>
class WindowTest : public QObject
{
protected:
    Engine m_engine;
    std::unique_ptr<MainWindow> m_window;

    Workspace& workspace() { return m_window->workspace(); }
    GraphPane& pane() { return m_window->graphPane(); }
    /// A model is open, planned and drawn, and nothing is under way.
    bool settled()
    {
        return workspace().document().plan() && pane().isLayoutDone()
            && !workspace().pipeline().isBusy();
    }
    NodeId node(const char* name) { return workspace().document().model()->tryFind(name)->id; }
    template<class T>
    T* find(const char* name)
    {
        return m_window->findChild<T*>(QString::fromLatin1(name));
    }
};

} // namespace qs::test
