// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "ui/shell/backend/backend_draft.h"
#endif

#include <QDialog>

class QLabel;
class QLineEdit;
class QListWidget;
class QPushButton;

namespace qs {

class EntryForm;
class EntryList;
class Workspace;

/// The entries of the recipe's backend: patterns, what becomes of them, dtype configs with their
/// constraints. What is typed is checked as `backends check` does it. Saving writes a file of its
/// own, which the recipe then names, as one undoable step; while there is an error nothing is
/// saved. The shipped backends stay as they are. GUI thread only.
class BackendDialog : public QDialog
{
    Q_OBJECT

public:
    /// `folder`: where the file goes unless the user says otherwise.
    BackendDialog(Workspace& workspace, const Backend& backend, const QString& folder,
                  QWidget* parent);

    /// Shows this entry, by its index.
    void showEntry(int entry);
    void reject() override;

private:
    QWidget* buildName();
    QWidget* buildProblems();
    QWidget* buildFile();
    void onChosen(int entry);
    void onEdited();
    /// What was checked, the buttons, and the name of the file.
    void refresh();
    void showProblems();
    void showKernels(int entry);
    void addPartner();
    void chooseFile();
    void save();
    void say(const QString& problem);

    Workspace& m_workspace;
    BackendDraft m_draft;
    QString m_folder;
    std::vector<BackendProblem> m_listed; ///< in `m_problems`
    bool m_isFileOurs = true; ///< the user chose no other
    QLineEdit* m_name;
    EntryList* m_entries;
    EntryForm* m_form;
    QLabel* m_verdict;
    QListWidget* m_problems;
    QPushButton* m_partner;
    QLineEdit* m_file;
    QLabel* m_refusal;
    QPushButton* m_save;
};

} // namespace qs
