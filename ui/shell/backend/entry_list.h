// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/base/result.h"
#endif

#include <QWidget>

class QLineEdit;
class QMenu;
class QPushButton;
class QTreeWidget;

namespace qs {

class BackendDraft;

/// The entries of a draft with the module that each becomes; marks entries with errors. Filters,
/// selects, adds, duplicates and removes entries. GUI thread only.
class EntryList : public QWidget
{
    Q_OBJECT

public:
    /// `draft` is borrowed.
    EntryList(BackendDraft& draft, QWidget* parent);

    /// Index of the selected entry; -1 without one.
    int current() const;
    void showEntry(int entry);
    /// Rebuilds the list after entries were added or removed, and selects this entry.
    void fill(int entry);
    /// Updates all entries.
    void refresh();
    void focusFilter();

Q_SIGNALS:
    void chosen(int entry);
    /// The selected entry is new and has no pattern.
    void added();
    void refused(const QString& why);

private:
    QPushButton* buildAdder();
    void fillFusionMenu();
    void showRow(int entry);
    void applyFilter();
    void take(const Result<int>& added);

    BackendDraft& m_draft;
    QLineEdit* m_filter;
    QTreeWidget* m_entries;
    QMenu* m_fusions;
    QPushButton* m_duplicate;
    QPushButton* m_remove;
};

/// Shortens package names as torch.ao does: "nni.ConvReLU2d".
QString shortNames(QString text);

} // namespace qs
