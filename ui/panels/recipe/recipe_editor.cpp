// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/recipe/recipe_editor.h"

#include "ui/help/help_topics.h"
#include "ui/session/decisions/recipe_text.h"
#include "ui/style/theme.h"

#include <QPaintEvent>
#include <QPainter>
#include <QTextBlock>

#include <algorithm>

namespace qs {

/// The line numbers left of the text.
class LineNumbers : public QWidget
{
public:
    explicit LineNumbers(RecipeEditor& editor)
        : QWidget(&editor)
        , m_editor(editor)
    {
    }

protected:
    void paintEvent(QPaintEvent* event) override { m_editor.paintNumbers(event); }

private:
    RecipeEditor& m_editor;
};

RecipeEditor::RecipeEditor(QWidget* parent)
    : QPlainTextEdit(parent)
    , m_gutter(new LineNumbers(*this))
{
    setFont(monoFont(11));
    setFrameShape(QFrame::NoFrame);
    setLineWrapMode(QPlainTextEdit::NoWrap);
    setTabChangesFocus(true); // so that Tab can leave the editor
    connect(this, &QPlainTextEdit::updateRequest, this, [this](const QRect& rect, int dy) {
        if (dy != 0)
            m_gutter->scroll(0, dy);
        else
            m_gutter->update(0, rect.y(), m_gutter->width(), rect.height());
    });
    connect(this, &QPlainTextEdit::blockCountChanged, this, &RecipeEditor::placeGutter);
    placeGutter();
}

QString RecipeEditor::helpPlace() const
{
    const QString line = textCursor().block().text();
    int key = textCursor().block().position() + 1;
    for (const QChar c : line) {
        if (!c.isSpace())
            break;
        ++key;
    }
    QStringList path = jsonPathAt(toPlainText(), std::max(textCursor().position(), key));
    if (path.value(0) == QLatin1String("qconfigs") && path.size() > 3)
        path[2] = QStringLiteral("activation"); // weight observers have the same keys
    return helpPlaceOfKey(QStringLiteral("recipe-keys"), path);
}

int RecipeEditor::gutterWidth() const
{
    const int digits = std::max(2, int(QString::number(blockCount()).size()));
    return 18 + digits * fontMetrics().horizontalAdvance(QLatin1Char('9'));
}

void RecipeEditor::placeGutter()
{
    setViewportMargins(gutterWidth(), 0, 0, 0);
    const QRect room = contentsRect();
    m_gutter->setGeometry(room.left(), room.top(), gutterWidth(), room.height());
}

void RecipeEditor::resizeEvent(QResizeEvent* event)
{
    QPlainTextEdit::resizeEvent(event);
    placeGutter();
}

void RecipeEditor::setProblem(int line, const QString& message)
{
    m_problem = line;
    QList<QTextEdit::ExtraSelection> marks;
    if (line > 0) {
        QTextEdit::ExtraSelection mark;
        mark.format.setBackground(theme().dangerFill);
        mark.format.setProperty(QTextFormat::FullWidthSelection, true);
        mark.format.setToolTip(message);
        mark.cursor = QTextCursor(document()->findBlockByNumber(line - 1));
        marks << mark;
    }
    setExtraSelections(marks);
    m_gutter->setToolTip(message);
    m_gutter->update();
}

void RecipeEditor::paintNumbers(QPaintEvent* event)
{
    const Theme& t = theme();
    QPainter p(m_gutter);
    p.fillRect(event->rect(), t.canvas);
    p.setFont(font());
    for (QTextBlock block = firstVisibleBlock(); block.isValid(); block = block.next()) {
        const QRectF where = blockBoundingGeometry(block).translated(contentOffset());
        if (where.top() > event->rect().bottom())
            break;
        const bool wrong = block.blockNumber() + 1 == m_problem;
        if (wrong)
            p.fillRect(QRectF(0, where.top(), 3, where.height()), t.danger);
        p.setPen(wrong ? t.danger : t.faint);
        p.drawText(QRectF(0, where.top(), m_gutter->width() - 8, where.height()),
                   Qt::AlignRight | Qt::AlignVCenter, QString::number(block.blockNumber() + 1));
    }
}

} // namespace qs
