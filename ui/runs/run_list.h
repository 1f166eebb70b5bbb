// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QPushButton;
class QTreeWidget;

namespace qs {

class ColumnFit;
class RunLibrary;
class Workspace;

/// The list of runs, the newest first, with buttons: keep, name, note, use, delete, add. Puts the
/// selected runs side by side. GUI thread only.
class RunList : public QWidget
{
    Q_OBJECT

public:
    RunList(Workspace& workspace, RunLibrary& library, QWidget* parent);
    /// Asks for a name and keeps the current result under it.
    void askToKeep();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    QPushButton* addButton(const char* name, const QString& text, const QString& tip,
                           void (RunList::*work)());
    void showRuns();
    void fitColumns();
    void showLetters();
    void showButtons();
    void choose();
    QStringList chosen() const;
    QString currentFolder() const;
    void askName();
    void askNote();
    void askRemove();
    void askFile();
    void useDecisions();

    Workspace& m_workspace;
    RunLibrary& m_library;
    QTreeWidget* m_list;
    ColumnFit* m_fit;
    QList<QPushButton*> m_buttons;
};

} // namespace qs
