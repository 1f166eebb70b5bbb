// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/configure/backend/lowering_table.h"
#endif

#include <QDialog>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QTableWidget;

namespace qs {

class Workspace;

/// The rows that map the reference form to LibTorch's kernels: torch.ao's and the recipe's.
/// Removes, restores and adds rows; each change is one undoable step and takes effect at the next
/// conversion. GUI thread only.
class LoweringDialog : public QDialog
{
    Q_OBJECT

public:
    LoweringDialog(Workspace& workspace, QWidget* parent);

private:
    enum class Origin
    {
        Default, ///< torch.ao's row, in use
        Removed, ///< torch.ao's row, removed by the recipe
        Replaced, ///< torch.ao's row, replaced by a row of the recipe
        Own ///< the recipe's
    };
    struct Row
    {
        std::vector<std::string> pattern;
        std::string kernel;
        Origin origin = Origin::Default;
        KernelMode mode = KernelMode::Static;
    };

    QWidget* buildAdder();
    std::vector<Row> rows() const;
    void refresh();
    void showRow(int at, const Row& row);
    void toggle();
    void add();
    void onSelection();

    Workspace& m_workspace;
    std::vector<Row> m_rows;
    QLineEdit* m_filter;
    QTableWidget* m_table;
    QPushButton* m_toggle;
    QLineEdit* m_pattern;
    QComboBox* m_kernel;
    QPushButton* m_add;
    QLabel* m_problem;
};

/// A row's kernel as displayed.
QString kernelText(const std::string& kernel);
/// Returns the recipe without the row of that pattern: removes the recipe's row, marks torch.ao's
/// row as removed.
Recipe withoutLoweringRow(const Recipe& recipe, const std::vector<std::string>& pattern);
/// Returns the recipe with torch.ao's row of that pattern restored.
Recipe withLoweringRowBack(const Recipe& recipe, const std::vector<std::string>& pattern);

} // namespace qs
