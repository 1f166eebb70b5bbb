// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/source/source_view.h"

#include "engine/graph/source_frames.h"
#include "engine/plan/block/prepare_lists.h"
#include "ui/session/coalesce.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/source/wrap_function.h"
#include "ui/style/property_cards.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QAction>
#include <QFileDialog>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSettings>
#include <QTextBlock>

#include <algorithm>

namespace qs {

namespace {

const QString kSourceTag = QStringLiteral("source");
const QString kSourceFolderKey = QStringLiteral("sources/folder");

QString numbered(const SourceExcerpt& found)
{
    const int width = int(QString::number(found.firstLine + int(found.lines.size())).size());
    QString text;
    for (std::size_t i = 0; i < found.lines.size(); ++i)
        text += QStringLiteral("%1  ").arg(found.firstLine + int(i), width)
            + QString::fromStdString(found.lines[i]) + QLatin1Char('\n');
    text.chop(1);
    return text;
}

} // namespace

SourceView::SourceView(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_where(new ElidedLabel(QString(), uiFont(11), this))
    , m_choose(makeButton("sourceFolder", tr("Choose folder…"),
                          tr("Choose the folder with the model's Python files"), this))
    , m_text(new QPlainTextEdit(this))
    , m_folder(QSettings().value(kSourceFolderKey).toString())
{
    setObjectName(QStringLiteral("sourceView"));
    m_where->setObjectName(QStringLiteral("sourceWhere"));
    m_where->setColor(theme().muted);
    m_choose->setFont(uiFont(11));
    setNames(*m_text, "sourceText", tr("Python source of the selected node"));
    m_text->setReadOnly(true);
    m_text->setFrameShape(QFrame::NoFrame);
    m_text->setLineWrapMode(QPlainTextEdit::NoWrap);
    m_text->setFont(monoFont(11));
    m_text->setTabChangesFocus(true);
    auto* top = makeHBox(nullptr, {px(8), 0, px(4), 0});
    addItems(*top, {{m_where, 1}, m_choose});
    addItems(*makeVBox(this, {}, 2), {top, {m_text, 1}});
    m_text->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(m_text, &QWidget::customContextMenuRequested, this, &SourceView::showMenu);
    connect(m_choose, &QPushButton::clicked, this, &SourceView::chooseFolder);
    const auto later = coalesced(this, [this] {
        if (isVisible())
            load();
    });
    connect(&workspace.selection(), &Selection::changed, this, later);
    connect(&workspace.document(), &Document::modelChanged, this, later);
}

void SourceView::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    load();
}

void SourceView::chooseFolder()
{
    const QString folder = QFileDialog::getExistingDirectory(
        this, tr("Folder with the model's Python files"), m_folder);
    if (!folder.isEmpty())
        setFolder(folder);
}

void SourceView::setFolder(const QString& folder)
{
    m_folder = folder;
    QSettings().setValue(kSourceFolderKey, folder);
    load();
}

void SourceView::load()
{
    const auto& model = m_workspace.document().model();
    const Node* node = model ? model->tryGet(m_workspace.selection().current()) : nullptr;
    if (!node) {
        m_workspace.pipeline().jobs().cancel(kSourceTag);
        m_recorded = {};
        m_text->clear();
        m_shownPath.clear();
        m_choose->hide();
        m_where->setText(tr("Select a node to see the Python it came from"));
        return;
    }
    m_recorded = node->source;
    m_workspace.pipeline().jobs().run(
        Lane::Pool, kSourceTag,
        [recorded = m_recorded, folder = m_folder.toStdString()](JobContext&) {
            return sourceLines(recorded, folder, -1);
        },
        this, [this](const Result<SourceExcerpt>& found) { show(found); });
}

void SourceView::show(const Result<SourceExcerpt>& found)
{
    m_choose->setVisible(!m_recorded.file.empty());
    m_lines = found ? found->lines : std::vector<std::string>();
    if (!found) {
        m_shownPath.clear();
        m_where->setText(toQString(found.error().line()));
        // The model records the line itself; show it without the file.
        m_text->setPlainText(
            m_recorded.code.empty()
                ? QString()
                : QStringLiteral("%1  %2").arg(m_recorded.line).arg(toQString(m_recorded.code)));
        markLine(m_recorded.code.empty() ? -1 : 0);
        return;
    }
    const QString path = toQString(found->path);
    m_where->setText(QStringLiteral("%1:%2%3")
                         .arg(path)
                         .arg(found->line)
                         .arg(found->isSame ? QString()
                                            : tr(" · changed since the export; the line was: %1")
                                                  .arg(toQString(m_recorded.code))));
    m_where->setColor(found->isSame ? theme().muted : theme().warning);
    const QString text = numbered(*found);
    if (path != m_shownPath || m_text->toPlainText() != text)
        m_text->setPlainText(text);
    m_shownPath = path;
    markLine(found->line - found->firstLine);
}

void SourceView::showMenu(const QPoint& at)
{
    const auto& document = m_workspace.document();
    if (!document.model())
        return;
    const auto row = std::size_t(m_text->cursorForPosition(at).blockNumber());
    const std::string function
        = m_lines.empty() ? innermostFunction(m_recorded) : functionAround(m_lines, row);
    const std::string key = function.empty()
        ? std::string()
        : wrapKeyOf(*document.model(), m_recorded.file, function,
                    m_workspace.selection().current());
    QMenu* menu = m_text->createStandardContextMenu(at);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->setToolTipsVisible(true);
    menu->addSeparator();
    auto* action = menu->addAction(tr("Wrap this function"));
    action->setObjectName(QStringLiteral("wrapFunction"));
    action->setCheckable(true);
    const auto& wraps = document.recipe().prepare.wrap;
    action->setChecked(std::ranges::find(wraps, key) != wraps.end());
    action->setEnabled(!key.empty());
    action->setToolTip(key.empty()
                           ? tr("No operator of the model comes from it")
                           : tr("Show %1 as one node: its own operators stay float, the modules "
                                "that it calls follow their rules")
                                 .arg(toQString(key)));
    connect(action, &QAction::triggered, this, [this, key] { wrap(key); });
    menu->popup(m_text->viewport()->mapToGlobal(at));
}

void SourceView::wrap(const std::string& key)
{
    const Recipe& recipe = m_workspace.document().recipe();
    const auto& wraps = recipe.prepare.wrap;
    const bool isWrapped = std::ranges::find(wraps, key) != wraps.end();
    m_workspace.change((isWrapped ? tr("show %1 operator by operator") : tr("show %1 as one node"))
                           .arg(toQString(key)),
                       withPrepareName(recipe, &PrepareConfig::wrap, key, !isWrapped));
}

/// Marks a row and centres it; -1: none.
void SourceView::markLine(int row)
{
    QList<QTextEdit::ExtraSelection> marks;
    if (row >= 0) {
        QTextEdit::ExtraSelection mark;
        mark.cursor = QTextCursor(m_text->document()->findBlockByNumber(row));
        mark.format.setBackground(theme().accentSoft);
        mark.format.setProperty(QTextFormat::FullWidthSelection, true);
        marks << mark;
        m_text->setTextCursor(mark.cursor);
        m_text->centerCursor();
    }
    m_text->setExtraSelections(marks);
}

} // namespace qs
