// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/workspace.h"

#include <QWidget>

class QLabel;
class QToolButton;

namespace qs {

/// The first cause of the outputs' noise in one short sentence with its share; a click selects its
/// operator. Shows progress while causes are searched, or that nothing needs a cure. A cell of the
/// result strip. GUI thread only.
class CauseCell : public QWidget
{
    Q_OBJECT

public:
    CauseCell(Workspace& workspace, QWidget* parent);
    /// Shows the workspace's current state.
    void refresh();
    /// The full text; empty without one.
    const QString& words() const { return m_words; }

Q_SIGNALS:
    /// A node was selected: bring it into view in the graph.
    void revealWanted();

private:
    void say(const QString& caption, const QString& text, const QString& tip);

    Workspace& m_workspace;
    QLabel* m_caption;
    QToolButton* m_button;
    QString m_words;
    NodeId m_node; ///< selected by a click
};

} // namespace qs
