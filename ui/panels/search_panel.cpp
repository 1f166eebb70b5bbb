// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/search_panel.h"

#include "engine/base/text.h"
#include "ui/models/search_result_model.h"
#include "ui/session/search/finder.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTreeView>

#include <algorithm>

namespace qs {

namespace {

constexpr int kResultWidth = 520, kResultRows = 14;

} // namespace

SearchPanel::SearchPanel(Workspace& workspace, Finder& finder, QLineEdit& field, QWidget* parent)
    : QFrame(parent)
    , m_workspace(workspace)
    , m_finder(finder)
    , m_field(field)
    , m_model(new SearchResultModel(workspace, this))
    , m_count(new QLabel(this))
    , m_all(makeButton("searchSelectAll", tr("Select all"),
                       tr("Select every match, to assign to all at once (Ctrl+Shift+F)"), this))
    , m_note(new QLabel(this))
    , m_list(new QTreeView(this))
{
    setObjectName(QStringLiteral("searchPanel"));
    setAttribute(Qt::WA_StyledBackground);
    setStyleSheet(QStringLiteral("QFrame#searchPanel { background: %1; border: 1px solid %2; "
                                 "border-radius: 6px; }")
                      .arg(theme().panel.name(), theme().border.name()));
    m_count->setObjectName(QStringLiteral("searchCount"));
    m_count->setFont(uiFont(12, 600));
    m_all->setFocusPolicy(Qt::NoFocus);
    m_note->setObjectName(QStringLiteral("searchNote"));
    m_note->setWordWrap(true);
    m_note->setFont(uiFont(11.5));
    setNames(*m_list, "searchResults", tr("Search results"));
    m_list->setModel(m_model);
    m_list->setRootIsDecorated(false);
    m_list->setUniformRowHeights(true);
    m_list->setAllColumnsShowFocus(true);
    m_list->setFocusPolicy(Qt::NoFocus);
    m_list->setFont(uiFont(12));
    m_list->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setStyleSheet(
        QStringLiteral("QHeaderView::section, QHeaderView::section:first { color: "
                       "%1; padding: 3px 4px; }")
            .arg(theme().muted.name()));
    m_list->header()->setFont(uiFont(11));
    auto* header = m_list->header();
    header->setStretchLastSection(false);
    header->setMinimumSectionSize(40);
    header->setSectionResizeMode(QHeaderView::Fixed);
    header->setSectionResizeMode(SearchResultModel::Name, QHeaderView::Stretch);
    header->resizeSection(SearchResultModel::Module, px(150));
    header->resizeSection(SearchResultModel::QConfigColumn, px(74));
    header->resizeSection(SearchResultModel::ErrorColumn, px(58));
    auto* top = new QHBoxLayout;
    addItems(*top, {{m_count, 1}, m_all});
    addItems(*makeVBox(this, {12, 8, 12, 10}, 6), {top, m_note, {m_list, 1}});
    hide();

    field.installEventFilter(this);
    parent->installEventFilter(this);
    connect(&field, &QLineEdit::textChanged, this, [this](const QString& text) {
        m_finder.setExpression(text);
        open();
    });
    connect(&finder, &Finder::changed, this, &SearchPanel::refresh);
    connect(m_all, &QPushButton::clicked, &finder, &Finder::selectAll);
    connect(m_list, &QTreeView::clicked, this, [this](const QModelIndex& index) {
        m_workspace.selectEntry(m_model->unitOf(index));
        Q_EMIT revealWanted();
    });
    refresh();
}

void SearchPanel::refresh()
{
    const auto& found = m_finder.results();
    const bool asked = !m_finder.expression().trimmed().isEmpty();
    const bool wrong = !m_finder.error().isEmpty();
    m_model->setUnits(found);
    m_list->setVisible(!found.empty());
    m_all->setVisible(!found.empty());
    m_note->setVisible(found.empty());
    m_count->setText(wrong               ? tr("Not understood yet")
                         : !asked        ? tr("Find nodes")
                         : found.empty() ? tr("Nothing matches")
                                         : toQString(counted(found.size(), "match")));
    m_note->setText(wrong ? m_finder.error() : searchHint());
    m_note->setStyleSheet(inkStyle(wrong ? theme().danger : theme().muted));
    const auto selected = m_workspace.selectedEntries();
    const int row = std::max(0, selected.size() == 1 ? m_model->rowOf(selected.front()) : 0);
    if (!found.empty())
        m_list->setCurrentIndex(m_model->index(row, 0));
    if (isVisible())
        place();
}

void SearchPanel::open()
{
    if (!m_workspace.document().model() || !m_field.hasFocus())
        return;
    place();
    show();
    raise();
}

/// Places the panel below the field, as far right as possible, with the height of its content.
void SearchPanel::place()
{
    // Below the bar that contains the field.
    QPoint corner(m_field.mapTo(parentWidget(), QPoint(m_field.width(), 0)).x(),
                  m_field.parentWidget()->geometry().bottom() + 4);
    if (m_clearOf && m_clearOf->isVisible())
        corner.setX(std::min(corner.x(), m_clearOf->mapTo(parentWidget(), QPoint()).x() - 4));
    const int width = std::min(px(kResultWidth), corner.x() - 12);
    const int rows = std::min(int(m_finder.results().size()), kResultRows);
    const int rowHeight = std::max(m_list->sizeHintForRow(0), px(18));
    const int head = 8 + std::max(m_all->sizeHint().height(), m_count->sizeHint().height()) + 6;
    const int body = rows > 0 ? m_list->header()->sizeHint().height() + rows * rowHeight + 4
                              : m_note->heightForWidth(width - 24);
    setGeometry(corner.x() - width, corner.y(), width, head + body + 12);
}

void SearchPanel::moveCurrent(int by)
{
    const int rows = m_model->rowCount();
    if (rows == 0)
        return;
    const int row = std::clamp(m_list->currentIndex().row() + by, 0, rows - 1);
    m_list->setCurrentIndex(m_model->index(row, 0));
}

/// Selects the current row; if it is selected already, the next one.
void SearchPanel::activate()
{
    const int unit = m_model->unitOf(m_list->currentIndex());
    if (unit < 0)
        return;
    const auto selected = m_workspace.selectedEntries();
    if (selected.size() == 1 && selected.front() == unit) {
        m_finder.step(1);
        const auto now = m_workspace.selectedEntries();
        m_list->setCurrentIndex(m_model->index(m_model->rowOf(now.front()), 0));
    } else {
        m_workspace.selectEntry(unit);
    }
    Q_EMIT revealWanted();
}

bool SearchPanel::handleKey(int key)
{
    switch (key) {
    case Qt::Key_Down:
    case Qt::Key_Up:
        open();
        moveCurrent(key == Qt::Key_Down ? 1 : -1);
        return true;
    case Qt::Key_PageDown:
    case Qt::Key_PageUp:
        moveCurrent(key == Qt::Key_PageDown ? kResultRows : -kResultRows);
        return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        activate();
        return true;
    case Qt::Key_Escape:
        hide();
        Q_EMIT left();
        return true;
    default:
        return false;
    }
}

bool SearchPanel::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == parentWidget() && event->type() == QEvent::Resize && isVisible())
        place();
    if (watched != &m_field)
        return QFrame::eventFilter(watched, event);
    if (event->type() == QEvent::FocusIn)
        open();
    if (event->type() == QEvent::FocusOut)
        hide();
    if (event->type() == QEvent::ShortcutOverride
        && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
        event->accept(); // prevents the window's Escape, which clears the selection
        return true;
    }
    if (event->type() == QEvent::KeyPress
        && static_cast<QKeyEvent*>(event)->modifiers() == Qt::NoModifier)
        return handleKey(static_cast<QKeyEvent*>(event)->key());
    return QFrame::eventFilter(watched, event);
}

} // namespace qs
