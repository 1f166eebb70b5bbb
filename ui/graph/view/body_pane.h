// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/view/graph_view.h"

#include <QWidget>

class QHBoxLayout;
class QLabel;
class QTabBar;

namespace qs {

class Workspace;

/// Shows the bodies of one node: the branches of a cond, the steps of a loop, the inside of a
/// region or a custom module. Covers the graph; a bar of breadcrumbs shows the position and leads
/// back. Bodies inside bodies open the same way. GUI thread only.
class BodyPane : public QWidget
{
    Q_OBJECT

public:
    BodyPane(Workspace& workspace, QWidget* parent);

    /// Shows the first body of a node of the model.
    void open(NodePtr node);
    /// Returns to the enclosing body, or to the model.
    void up();
    void close();
    bool isOpen() const { return !m_path.empty(); }
    bool isLayoutDone() const { return m_layoutDone; }
    /// The body shown; null when closed.
    GraphPtr body() const;
    GraphView& view() { return *m_view; }
    /// Sets the direction of bodies that are opened from now on.
    void setFlow(Flow flow) { m_flow = flow; }

Q_SIGNALS:
    void layoutFinished();
    void closed();

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    /// An opened node and the index of its shown body.
    struct Level
    {
        NodePtr node;
        std::size_t index = 0;
    };

    void show();
    void fillBar();
    void addCrumb(const QString& text, const QString& tip, std::size_t keep);
    void relayout();
    void activate(int entry);
    void toggleFold(int entry);
    void describe(int entry);

    Workspace& m_workspace;
    std::vector<Level> m_path;
    FoldTreePtr m_tree;
    Facts m_facts; ///< empty: bodies have no decisions
    std::set<int> m_expanded;
    QWidget* m_crumbs;
    QHBoxLayout* m_crumbRow;
    QTabBar* m_tabs;
    QLabel* m_caption;
    GraphView* m_view;
    Flow m_flow = Flow::Down;
    bool m_layoutDone = false;
};

} // namespace qs
