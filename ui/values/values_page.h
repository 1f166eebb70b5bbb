// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QComboBox;
class QLabel;
class QPushButton;
class QSortFilterProxyModel;
class QSpinBox;
class QTableView;

namespace qs {

class ElidedLabel;
class LookTable;
class SampleView;
class ValueLooks;
class Workspace;

/// The selected node's values, looked at: one sample in both models, and what every channel, weight
/// channel and sample loses. Nothing is computed here. GUI thread only.
class ValuesPage : public QWidget
{
    Q_OBJECT

public:
    explicit ValuesPage(Workspace& workspace, QWidget* parent = nullptr);

    ValueLooks& looks() { return *m_looks; }
    /// The list as CSV: the selected rows, or all.
    QString csv() const;

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    void buildBar(QWidget& bar);
    QWidget* buildLists();
    void aim();
    void refresh();
    void refreshBar();
    void refreshLists();
    void showTable();
    /// A click on a sample goes to it, one on a channel to its plane.
    void goTo(int row);

    Workspace& m_workspace;
    ValueLooks* m_looks;
    LookTable* m_table;
    QSortFilterProxyModel* m_sorted;
    ElidedLabel* m_title;
    ElidedLabel* m_note;
    QComboBox* m_what;
    QSpinBox* m_sample;
    QComboBox* m_result;
    QSpinBox* m_plane;
    QLabel* m_planeLabel;
    QComboBox* m_mode;
    SampleView* m_view;
    QComboBox* m_list;
    QTableView* m_rows;
    QPushButton* m_copy;
    QString m_pointed;
};

} // namespace qs
