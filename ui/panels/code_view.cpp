// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/code_view.h"

#include "ui/style/theme.h"

#include <QTextBlock>

#include <algorithm>

namespace qs {

CodeView::CodeView(QWidget* parent)
    : QPlainTextEdit(parent)
{
    setReadOnly(true);
    setLineWrapMode(QPlainTextEdit::NoWrap);
    setFont(monoFont(11));
    setFrameShape(QFrame::NoFrame);
    setUndoRedoEnabled(false);
    document()->setDocumentMargin(10);
}

void CodeView::setRows(std::vector<Row> rows)
{
    m_rows = std::move(rows);
    QStringList text;
    text.reserve(int(m_rows.size()));
    for (const Row& row : m_rows)
        text << QString::fromStdString(row.line.text);
    setExtraSelections({});
    setPlainText(text.join(QLatin1Char('\n')));
}

std::vector<int> CodeView::rowsOf(const std::vector<NodeId>& nodes) const
{
    const std::unordered_set<NodeId> wanted(nodes.begin(), nodes.end());
    std::vector<int> out;
    for (std::size_t i = 0; i < m_rows.size() && !wanted.empty(); ++i)
        if (std::any_of(m_rows[i].line.nodes.begin(), m_rows[i].line.nodes.end(),
                        [&](NodeId id) { return wanted.contains(id); }))
            out.push_back(int(i));
    return out;
}

void CodeView::markNodes(const std::vector<NodeId>& nodes, bool reveal)
{
    const Theme& t = theme();
    QList<QTextEdit::ExtraSelection> marks;
    const auto mark = [&](int row, const QColor& fill) {
        QTextEdit::ExtraSelection selection;
        selection.format.setBackground(fill);
        selection.format.setProperty(QTextFormat::FullWidthSelection, true);
        selection.cursor = QTextCursor(document()->findBlockByNumber(row));
        marks << selection;
    };
    for (std::size_t i = 0; i < m_rows.size(); ++i)
        if (m_rows[i].change != Change::None)
            mark(int(i),
                 m_rows[i].change == Change::Gap           ? t.canvas
                     : m_rows[i].change == Change::Changed ? t.warningFill
                                                           : m_ownFill);
    const auto selected = rowsOf(nodes);
    for (const int row : selected)
        mark(row, t.accentSoft);
    setExtraSelections(marks);
    if (!reveal || selected.empty())
        return;
    // Prefer the first statement of `forward` to the line in the list of modules.
    const auto isStatement = [this](int row) {
        return m_rows[std::size_t(row)].line.text.find(" = ") != std::string::npos
            && m_rows[std::size_t(row)].line.text.starts_with("    ");
    };
    const auto first = std::find_if(selected.begin(), selected.end(), isStatement);
    setTextCursor(QTextCursor(
        document()->findBlockByNumber(first == selected.end() ? selected.front() : *first)));
    centerCursor();
}

int CodeView::changeCount() const
{
    return int(std::count_if(m_rows.begin(), m_rows.end(), [](const Row& row) {
        return row.change == Change::Changed || row.change == Change::Own;
    }));
}

void CodeView::mouseReleaseEvent(QMouseEvent* event)
{
    QPlainTextEdit::mouseReleaseEvent(event);
    const auto row = std::size_t(textCursor().blockNumber());
    if (!textCursor().hasSelection() && row < m_rows.size() && !m_rows[row].line.nodes.empty())
        Q_EMIT nodesClicked(m_rows[row].line.nodes);
}

} // namespace qs
