// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// moc of Qt 6.4 stumbles over the standard library's concepts.
#ifndef Q_MOC_RUN
#include "engine/import/trace_report.h"
#endif

#include <QTreeWidget>

namespace qs {

class Workspace;

/// Everything to check: differences from the origin of an exported file, the plan's warnings (rules
/// that matched nothing, conflicts, dropped qconfigs), the records of the export helper beside the
/// model file (failed ways of exporting, code that is not in the file), and after a conversion the
/// nodes that lowering did not convert. A click selects the node or the module. GUI
/// thread only.
class FindingsPanel : public QTreeWidget
{
    Q_OBJECT

public:
    explicit FindingsPanel(Workspace& workspace, QWidget* parent = nullptr);
    int count() const { return m_count; }

Q_SIGNALS:
    void countChanged(int count);
    /// A row was chosen: bring its node into view.
    void revealWanted();

private:
    struct Finding
    {
        QString node; ///< name, or empty
        QString text;
        bool isModule = false; ///< `node` is the path of a module
    };
    void refresh();
    std::vector<Finding> rangeFindings() const;
    void readTrace();
    void showTrace(int& count);
    void addSection(const QString& title, const QString& name,
                    const std::vector<Finding>& findings);
    void choose(QTreeWidgetItem* item);
    void chooseModule(const std::string& path);

    Workspace& m_workspace;
    std::optional<TraceReport> m_trace; ///< of the open model
    std::vector<std::string> m_origin; ///< differences from the file's origin
    int m_count = -1;
};

} // namespace qs
