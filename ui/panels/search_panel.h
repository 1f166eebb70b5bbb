// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

class QLabel;
class QLineEdit;
class QPushButton;
class QTreeView;

namespace qs {

class Finder;
class SearchResultModel;
class Workspace;

/// What the search found, hanging below its field: count, list, select all; how to search while the
/// field is empty; what is wrong while the expression is. The field's arrow keys walk the list. GUI
/// thread only.
class SearchPanel : public QFrame
{
    Q_OBJECT

public:
    /// `field` is watched, not owned.
    SearchPanel(Workspace& workspace, Finder& finder, QLineEdit& field, QWidget* parent);
    /// Hangs left of this widget while that is shown, so that what is found can be worked on.
    void keepClearOf(const QWidget& widget) { m_clearOf = &widget; }

Q_SIGNALS:
    /// A result was selected and wants to be seen in the graph.
    void revealWanted();
    /// The keyboard is to go back to the graph.
    void left();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void refresh();
    void open();
    void place();
    bool handleKey(int key);
    void moveCurrent(int by);
    void activate();

    Workspace& m_workspace;
    Finder& m_finder;
    QLineEdit& m_field;
    SearchResultModel* m_model;
    QLabel* m_count;
    QPushButton* m_all;
    QLabel* m_note;
    QTreeView* m_list;
    const QWidget* m_clearOf = nullptr;
};

} // namespace qs
