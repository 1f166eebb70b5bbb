// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/graph/node.h"
#include "engine/io/source_lines.h"
#endif

#include <QWidget>

class QPlainTextEdit;
class QPushButton;

namespace qs {

class ElidedLabel;
class Workspace;

/// The Python source of the selected node, with its line marked. The file is found by its recorded
/// path, or below a folder that the user chose and the settings store. Read-only; its menu wraps a
/// function (`prepare.wrap`). GUI thread only.
class SourceView : public QWidget
{
    Q_OBJECT

public:
    explicit SourceView(Workspace& workspace, QWidget* parent);

    /// Sets the folder to search and stores it in the settings.
    void setFolder(const QString& folder);

protected:
    void showEvent(QShowEvent* event) override;

private:
    void chooseFolder();
    void load();
    void show(const Result<SourceExcerpt>& found);
    void markLine(int row);
    /// Shows the text's standard menu, with Wrap for the function around the line.
    void showMenu(const QPoint& at);
    void wrap(const std::string& key);

    Workspace& m_workspace;
    ElidedLabel* m_where;
    QPushButton* m_choose;
    QPlainTextEdit* m_text;
    SourceLocation m_recorded; ///< of the shown node
    std::vector<std::string> m_lines; ///< the shown lines; empty if the file is not found
    QString m_folder, m_shownPath;
};

} // namespace qs
