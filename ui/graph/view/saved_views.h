// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QPointF>

#include <map>
#include <set>
#include <string>

namespace qs {

class GraphPane;
class Workspace;

/// Saved views of the graph by digit: in the graph, Alt+digit stores the unfolded modules, the
/// middle and the zoom; the digit restores them. They belong to the model. GUI thread only.
class SavedViews : public QObject
{
    Q_OBJECT

public:
    struct View
    {
        std::set<std::string> expanded; ///< modules, by path
        QPointF middle; ///< in the scene
        double zoom = 1;
    };
    using Views = std::map<int, View>; ///< by digit

    SavedViews(Workspace& workspace, GraphPane& pane, QObject* parent = nullptr);
    const Views& views() const { return m_kept; }
    /// Sets the views of the open model.
    void setViews(Views views) { m_kept = std::move(views); }

Q_SIGNALS:
    /// A message on the action, for the status bar.
    void told(const QString& text);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void keep(int digit);
    void goTo(int digit);
    void arrive();

    GraphPane& m_pane;
    Views m_kept;
    int m_wanted = 0; ///< the digit whose view is being laid out
};

} // namespace qs
