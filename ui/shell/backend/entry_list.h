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
    /// Entries came or went: lists all and chooses this one.
    void fill(int entry);
    /// Updates all entries.
    void refresh();
    void focusFilter();

Q_SIGNALS:
    void chosen(int entry);
    /// The chosen one is new and has no pattern.
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

/// torch.ao's own short names of its packages: "nni.ConvReLU2d".
QString shortNames(QString text);

} // namespace qs
