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

/// The Python file that the selected node came from, with its line marked, where that file is found
/// on this machine: as recorded, or below a folder that the user chose once, which is kept in the
/// settings. Text only, but for its menu, which wraps a function (`prepare.wrap`). GUI thread only.
class SourceView : public QWidget
{
    Q_OBJECT

public:
    explicit SourceView(Workspace& workspace, QWidget* parent);

    /// Looks below this folder from now on; kept in the settings.
    void setFolder(const QString& folder);

protected:
    void showEvent(QShowEvent* event) override;

private:
    void chooseFolder();
    void load();
    void show(const Result<SourceExcerpt>& found);
    void markLine(int row);
    /// The text's own menu, and Wrap for the function that the line stands in.
    void showMenu(const QPoint& at);
    void wrap(const std::string& key);

    Workspace& m_workspace;
    ElidedLabel* m_where;
    QPushButton* m_choose;
    QPlainTextEdit* m_text;
    SourceLocation m_recorded; ///< of the node that is shown
    std::vector<std::string> m_lines; ///< that are shown; none where the file is not there
    QString m_folder, m_shownPath;
};

} // namespace qs
