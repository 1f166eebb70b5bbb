// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/code_panel.h"

#include "engine/graph/graph_printer.h"
#include "ui/session/workspace.h"
#include "ui/shell/theme.h"

#include <QRegularExpression>
#include <QTextBlock>

namespace qs {

CodePanel::CodePanel(Workspace& workspace, QWidget* parent)
    : QPlainTextEdit(parent)
    , m_workspace(workspace)
{
    setObjectName(QStringLiteral("codePanel"));
    setReadOnly(true);
    setLineWrapMode(QPlainTextEdit::NoWrap);
    setFont(monoFont(11));
    connect(&workspace.document(), &Document::modelChanged, this, [this] {
        m_dirty = true;
        if (isVisible())
            reload();
    });
    connect(&workspace.selection(), &Selection::changed, this, [this] {
        if (isVisible())
            mark();
    });
}

void CodePanel::showEvent(QShowEvent* event)
{
    QPlainTextEdit::showEvent(event);
    if (m_dirty)
        reload();
    mark();
}

void CodePanel::reload()
{
    m_dirty = false;
    m_lineOf.clear();
    m_nameAt.clear();
    const auto& model = m_workspace.document().model();
    const QString code = model ? QString::fromStdString(printCode(*model)) : QString();
    setPlainText(code);
    static const QRegularExpression assigned(QStringLiteral("^\\s*(\\w+)(?:\\s*:[^=]*)?\\s*="));
    int number = 0;
    for (const auto& line : code.split(QLatin1Char('\n'))) {
        const auto match = assigned.match(line);
        if (match.hasMatch()) {
            m_lineOf[match.captured(1)] = number;
            m_nameAt[number] = match.captured(1);
        }
        ++number;
    }
}

void CodePanel::mark()
{
    QList<QTextEdit::ExtraSelection> marks;
    const auto& model = m_workspace.document().model();
    for (NodeId id : m_workspace.selection().nodes()) {
        const Node* node = model ? model->tryGet(id) : nullptr;
        if (!node || !m_lineOf.contains(QString::fromStdString(node->name)))
            continue;
        QTextEdit::ExtraSelection mark;
        mark.format.setBackground(theme().accentSoft);
        mark.format.setProperty(QTextFormat::FullWidthSelection, true);
        mark.cursor = QTextCursor(
            document()->findBlockByNumber(m_lineOf[QString::fromStdString(node->name)]));
        marks << mark;
    }
    setExtraSelections(marks);
    if (!marks.isEmpty()) {
        setTextCursor(marks.front().cursor);
        ensureCursorVisible();
    }
}

void CodePanel::mouseReleaseEvent(QMouseEvent* event)
{
    QPlainTextEdit::mouseReleaseEvent(event);
    if (textCursor().hasSelection())
        return;
    const QString name = m_nameAt.value(textCursor().blockNumber());
    const auto& model = m_workspace.document().model();
    if (const Node* node = model ? model->tryFind(name.toStdString()) : nullptr)
        m_workspace.selectNode(node->id);
}

} // namespace qs
