// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/module_panel.h"

#include "ui/models/module_tree_model.h"
#include "ui/session/workspace.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QHeaderView>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QTreeView>

namespace qs {

namespace {

/// Modules that the first view opens, breadth first, as long as the rows fit on a screen.
constexpr int kFirstRows = 34;

/// Draws qconfig muted (blue where the user decided) and the error with its colour swatch.
class ModuleDelegate : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override
    {
        if (index.column() == ModuleTreeModel::ErrorColumn) {
            paintError(*painter, option, index);
            return;
        }
        QStyleOptionViewItem opt = option;
        initStyleOption(&opt, index);
        opt.state &= ~QStyle::State_HasFocus;
        if (index.column() == ModuleTreeModel::QConfigColumn) {
            opt.font = uiFont(11);
            const bool own = index.data(ModuleTreeModel::OverriddenRole).toBool();
            const QColor ink = own ? theme().accent : theme().muted;
            opt.palette.setColor(QPalette::Text, ink);
            opt.palette.setColor(QPalette::HighlightedText, ink);
            drawPlain(*painter, opt, ink);
            return;
        }
        opt.font = uiFont(12, option.state & QStyle::State_Selected ? 600 : 400);
        drawPlain(*painter, opt, theme().text);
    }

private:
    static void fill(QPainter& p, const QStyleOptionViewItem& option)
    {
        if (option.state & QStyle::State_Selected)
            p.fillRect(option.rect, theme().accentSoft);
        else if (option.state & QStyle::State_MouseOver)
            p.fillRect(option.rect, theme().window);
    }

    static void drawPlain(QPainter& p, const QStyleOptionViewItem& option, const QColor& ink)
    {
        p.save();
        fill(p, option);
        p.setFont(option.font);
        p.setPen(ink);
        const QRect room = option.rect.adjusted(2, 0, -4, 0);
        p.drawText(room, Qt::AlignLeft | Qt::AlignVCenter,
                   QFontMetrics(option.font).elidedText(option.text, Qt::ElideRight, room.width()));
        p.restore();
    }

    static void paintError(QPainter& p, const QStyleOptionViewItem& option,
                           const QModelIndex& index)
    {
        p.save();
        fill(p, option);
        const auto color = index.data(ModuleTreeModel::ColorRole);
        if (color.isValid()) {
            p.setRenderHint(QPainter::Antialiasing, true);
            if (index.data(ModuleTreeModel::StaleRole).toBool())
                p.setOpacity(0.4);
            p.setPen(Qt::NoPen);
            p.setBrush(color.value<QColor>());
            p.drawRoundedRect(QRectF(option.rect.left() + 2, option.rect.center().y() - 5, 10, 10),
                              2, 2);
            p.setPen(theme().text);
            p.setFont(monoFont(11));
            p.drawText(option.rect.adjusted(0, 0, -10, 0), Qt::AlignRight | Qt::AlignVCenter,
                       index.data().toString());
        }
        p.restore();
    }
};

} // namespace

ModulePanel::ModulePanel(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_model(new ModuleTreeModel(workspace, this))
    , m_tree(new QTreeView(this))
{
    setObjectName(QStringLiteral("panel"));
    setAttribute(Qt::WA_StyledBackground);
    setNames(*m_tree, "moduleTree", tr("Modules"));
    m_tree->setModel(m_model);
    m_tree->setItemDelegate(new ModuleDelegate(m_tree));
    m_tree->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_tree->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_tree->setUniformRowHeights(true);
    m_tree->setIndentation(12);
    m_tree->setMouseTracking(true);
    m_tree->setExpandsOnDoubleClick(true);
    m_tree->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_tree->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* header = m_tree->header();
    header->setStretchLastSection(false);
    header->setMinimumSectionSize(40);
    header->setSectionResizeMode(ModuleTreeModel::Name, QHeaderView::Stretch);
    header->setSectionResizeMode(ModuleTreeModel::QConfigColumn, QHeaderView::Fixed);
    header->setSectionResizeMode(ModuleTreeModel::ErrorColumn, QHeaderView::Fixed);
    header->resizeSection(ModuleTreeModel::QConfigColumn, px(64));
    header->resizeSection(ModuleTreeModel::ErrorColumn, px(64));
    header->setFixedHeight(px(30));
    header->setHighlightSections(false);
    makeVBox(this)->addWidget(m_tree);
    m_tree->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(m_tree, &QWidget::customContextMenuRequested, this, [this](const QPoint& at) {
        const auto index = m_tree->indexAt(at);
        if (index.isValid())
            Q_EMIT contextMenuWanted(m_model->entryOf(index), m_tree->viewport()->mapToGlobal(at));
    });
    connect(m_model, &QAbstractItemModel::modelReset, this, &ModulePanel::onTreeReset);
    connect(m_tree->selectionModel(), &QItemSelectionModel::selectionChanged, this,
            &ModulePanel::onRowsSelected);
    connect(&workspace.selection(), &Selection::changed, this, &ModulePanel::syncSelection);
    const auto filter = [this] { applyFilter({}); };
    connect(&workspace, &Workspace::filterChanged, this, filter);
    connect(&workspace, &Workspace::factsChanged, this, filter);
    onTreeReset();
}

/// Hides what has no node of the wanted verdict, and opens what has.
void ModulePanel::applyFilter(const QModelIndex& parent)
{
    const bool filtered = m_workspace.verdictFilter().has_value();
    if (!parent.isValid() && !filtered && !m_filtered)
        return;
    for (int row = 0; row < m_model->rowCount(parent); ++row) {
        const auto index = m_model->index(row, 0, parent);
        const bool shown = m_workspace.passesFilter(m_model->entryOf(index));
        m_tree->setRowHidden(row, parent, !shown);
        if (shown && filtered && m_model->rowCount(index) > 0)
            m_tree->expand(index);
        if (shown)
            applyFilter(index);
    }
    if (!parent.isValid())
        m_filtered = filtered;
}

void ModulePanel::onTreeReset()
{
    const auto& tree = m_workspace.foldTree();
    if (!tree)
        return;
    m_tree->expand(m_model->indexOf(FoldTree::kRoot));
    int rows = 1 + int(tree->entry(FoldTree::kRoot).children.size());
    std::vector<int> layer = tree->entry(FoldTree::kRoot).children;
    while (!layer.empty()) {
        std::vector<int> next;
        for (int entry : layer) {
            const auto& children = tree->entry(entry).children;
            if (!tree->entry(entry).isModule() || rows + int(children.size()) > kFirstRows)
                continue;
            rows += int(children.size());
            m_tree->expand(m_model->indexOf(entry));
            next.insert(next.end(), children.begin(), children.end());
        }
        layer = std::move(next);
    }
    applyFilter({});
    syncSelection();
}

void ModulePanel::onRowsSelected()
{
    if (m_syncing)
        return;
    const auto rows = m_tree->selectionModel()->selectedRows();
    m_syncing = true;
    for (int i = 0; i < rows.size(); ++i)
        m_workspace.selectEntry(m_model->entryOf(rows[i]), i > 0);
    if (rows.isEmpty())
        m_workspace.selection().clear();
    m_syncing = false;
    if (rows.size() == 1)
        Q_EMIT revealWanted();
}

void ModulePanel::syncSelection()
{
    if (m_syncing)
        return;
    m_syncing = true;
    QItemSelection rows;
    QModelIndex first;
    for (int entry : m_workspace.selectedEntries()) {
        const auto index = m_model->indexOf(entry);
        if (!first.isValid())
            first = index;
        rows.select(index, m_model->indexOf(entry, ModuleTreeModel::ErrorColumn));
    }
    m_tree->selectionModel()->select(rows, QItemSelectionModel::ClearAndSelect);
    if (first.isValid()) {
        m_tree->selectionModel()->setCurrentIndex(first, QItemSelectionModel::NoUpdate);
        m_tree->scrollTo(first);
    }
    m_syncing = false;
}

} // namespace qs
