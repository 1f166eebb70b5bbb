// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/graph/code/code_printer.h"
#endif

#include <QPlainTextEdit>

#include <vector>

namespace qs {

/// One form of the model as code. Rows may be empty, so that two views stay aligned. GUI thread
/// only.
class CodeView : public QPlainTextEdit
{
    Q_OBJECT

public:
    /// How a row differs from the row beside it.
    enum class Change
    {
        None,
        Changed, ///< the other form has another text
        Own, ///< only this form has it
        Gap ///< only the other form has it
    };
    struct Row
    {
        CodeLine line;
        Change change = Change::None;
    };

    explicit CodeView(QWidget* parent = nullptr);
    /// The tint of rows that only this form has.
    void setOwnFill(const QColor& fill) { m_ownFill = fill; }
    void setRows(std::vector<Row> rows);
    /// Rows of the nodes.
    std::vector<int> rowsOf(const std::vector<NodeId>& nodes) const;
    /// Marks the rows of the nodes and brings the first into view.
    void markNodes(const std::vector<NodeId>& nodes, bool reveal);
    int changeCount() const;
    const std::vector<Row>& rows() const { return m_rows; }

Q_SIGNALS:
    /// The user clicked the line of these nodes.
    void nodesClicked(const std::vector<qs::NodeId>& nodes);

protected:
    void mouseReleaseEvent(QMouseEvent* event) override;

private:
    std::vector<Row> m_rows;
    QColor m_ownFill;
};

} // namespace qs
