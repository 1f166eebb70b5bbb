// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

#include <vector>

class QTextBrowser;
class QTreeWidget;

namespace qs {

/// Something that this program is made of, and where the text of its licence may lie.
struct LicencedPart
{
    QString name, licence; ///< the licence's SPDX expression
    QStringList texts; ///< files that are there, to be shown one after the other
};
/// What the resources list, the program's own parts first; empty where the list is missing.
std::vector<LicencedPart> licencedParts();

/// Versions of the program, of LibTorch, CUDA and Qt, and the licences of all that it is made of.
/// GUI thread only.
class AboutDialog : public QDialog
{
    Q_OBJECT

public:
    explicit AboutDialog(QWidget* parent);
    /// The versions as lines, as for a report of a fault.
    static QString versions();

private:
    void showLicence(int part);

    std::vector<LicencedPart> m_parts;
    QTreeWidget* m_list;
    QTextBrowser* m_text;
};

} // namespace qs
