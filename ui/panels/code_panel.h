// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// moc of Qt 6.4 stumbles over the standard library's concepts.
#ifndef Q_MOC_RUN
#include "engine/base/strong_id.h"
#endif

#include <QHash>
#include <QPlainTextEdit>

namespace qs {

class Workspace;

/// The graph as code, one statement a node; the selected nodes' lines are marked and a click
/// selects. GUI thread only.
class CodePanel : public QPlainTextEdit
{
    Q_OBJECT

public:
    explicit CodePanel(Workspace& workspace, QWidget* parent = nullptr);

protected:
    void mouseReleaseEvent(QMouseEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    void reload();
    void mark();

    Workspace& m_workspace;
    QHash<QString, int> m_lineOf; ///< node name to line
    QHash<int, QString> m_nameAt;
    bool m_dirty = true;
};

} // namespace qs
