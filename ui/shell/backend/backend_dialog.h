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

/// Editor of the recipe's backend: patterns, their modules, dtype configs with their constraints.
/// Checks the input as `backends check` does. Saving writes a separate file, which the recipe then
/// names, as one undoable step; it is disabled while there is an error. Shipped backends are never
/// changed. GUI thread only.
class BackendDialog : public QDialog
{
    Q_OBJECT

public:
    /// `folder`: default folder of the file.
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
    /// Updates the findings, the buttons and the name of the file.
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
    std::vector<BackendProblem> m_listed; ///< shown in `m_problems`
    bool m_isFileOurs = true; ///< the file name is ours, not the user's
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
