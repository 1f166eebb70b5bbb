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

/// Results of the search, below its field: count, list, select all; help while the field is empty;
/// the error of an invalid expression. The field's arrow keys move in the list. GUI
/// thread only.
class SearchPanel : public QFrame
{
    Q_OBJECT

public:
    /// `field` is watched, not owned.
    SearchPanel(Workspace& workspace, Finder& finder, QLineEdit& field, QWidget* parent);
    /// Stays left of this widget while that is visible, so that results can be edited there.
    void keepClearOf(const QWidget& widget) { m_clearOf = &widget; }

Q_SIGNALS:
    /// A result was selected: bring it into view in the graph.
    void revealWanted();
    /// The user left the search: return the focus to the graph.
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
