// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

#include <vector>

class QTextBrowser;
class QTreeWidget;

namespace qs {

/// A component of this program with its licence.
struct LicencedPart
{
    QString name, licence; ///< the licence's SPDX expression
    QStringList texts; ///< existing files, to be shown in this order
};
/// Returns the components listed in the resources, the program's own first; empty if the list is
/// missing.
std::vector<LicencedPart> licencedParts();

/// Shows the versions of the program, LibTorch, CUDA and Qt, and the licences of all components.
/// GUI thread only.
class AboutDialog : public QDialog
{
    Q_OBJECT

public:
    explicit AboutDialog(QWidget* parent);
    /// The versions as lines, for a bug report.
    static QString versions();

private:
    void showLicence(int part);

    std::vector<LicencedPart> m_parts;
    QTreeWidget* m_list;
    QTextBrowser* m_text;
};

} // namespace qs
