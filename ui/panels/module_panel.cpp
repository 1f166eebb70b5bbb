// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/module_panel.h"

#include "ui/graph/repeated_blocks.h"
#include "ui/models/module_tree_model.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QHeaderView>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QTreeView>

namespace qs {

namespace {

/// Maximum number of rows in a first view, which opens modules breadth first.
constexpr int kFirstRows = 34;

/// Above this number of selected rows, a fully selected module is one row: Qt takes seconds for
/// thousands.
constexpr std::size_t kMostRows = 256;

/// Sets the flag that changes of rows come from the panel, while it exists.
class Syncing
{
public:
    explicit Syncing(bool& flag)
        : m_flag(flag)
        , m_before(std::exchange(flag, true))
    {
    }
    ~Syncing() { m_flag = m_before; }
    Syncing(const Syncing&) = delete;
    Syncing& operator=(const Syncing&) = delete;

private:
    bool& m_flag;
    bool m_before;
};

/// Draws the qconfig muted (blue if the user decided) and the error with its colour swatch.
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
        const bool isSelected = option.state & QStyle::State_Selected;
        if (index.column() == ModuleTreeModel::QConfigColumn) {
            const bool own = index.data(ModuleTreeModel::OverriddenRole).toBool();
            drawPlain(*painter, option, index, uiFont(11), own ? theme().accent : theme().muted);
        } else {
            drawPlain(*painter, option, index, uiFont(12, isSelected ? 600 : 400), theme().text);
        }
    }

private:
    static void fill(QPainter& p, const QStyleOptionViewItem& option)
    {
        if (option.state & QStyle::State_Selected)
            p.fillRect(option.rect, theme().accentSoft);
        else if (option.state & QStyle::State_MouseOver)
            p.fillRect(option.rect, theme().window);
    }

    static void drawPlain(QPainter& p, const QStyleOptionViewItem& option, const QModelIndex& index,
                          const QFont& font, const QColor& ink)
    {
        p.save();
        fill(p, option);
        p.setFont(font);
        p.setPen(ink);
        const QRect room = option.rect.adjusted(2, 0, -4, 0);
        p.drawText(
            room, Qt::AlignLeft | Qt::AlignVCenter,
            QFontMetrics(font).elidedText(index.data().toString(), Qt::ElideRight, room.width()));
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
        if (!index.isValid())
            return;
        int entry = m_model->entryOf(index);
        if (m_model->isBox(entry)) { // the menu applies to the selection
            m_workspace.selectEntries(m_model->tree()->entry(entry).children, false);
            entry = m_workspace.selectedEntries().front();
        }
        Q_EMIT contextMenuWanted(entry, m_tree->viewport()->mapToGlobal(at));
    });
    const auto onToggled = [this](const QModelIndex& index, bool open) {
        const int entry = m_model->entryOf(index);
        if (m_syncing || !m_model->isBox(entry))
            return;
        const QString key = toQString(m_model->tree()->entry(entry).path);
        m_openBoxes.remove(key);
        if (open)
            m_openBoxes.insert(key);
        Q_EMIT boxToggled(key, open);
    };
    connect(m_tree, &QTreeView::expanded, this,
            [onToggled](const QModelIndex& index) { onToggled(index, true); });
    connect(m_tree, &QTreeView::collapsed, this,
            [onToggled](const QModelIndex& index) { onToggled(index, false); });
    connect(m_model, &QAbstractItemModel::modelReset, this, &ModulePanel::onTreeReset);
    connect(m_tree->selectionModel(), &QItemSelectionModel::selectionChanged, this,
            &ModulePanel::onRowsSelected);
    connect(&workspace.selection(), &Selection::changed, this, &ModulePanel::syncSelection);
    const auto filter = [this] { applyFilter({}); };
    connect(&workspace, &Workspace::filterChanged, this, filter);
    connect(&workspace, &Workspace::factsChanged, this, filter);
    onTreeReset();
}

void ModulePanel::showBoxes(const FoldTreePtr& grouped, const std::set<std::string>& open)
{
    std::vector<int> expanded;
    const FoldTreePtr before = m_model->tree();
    for (int i = 0; before && i < int(before->ungrouped().size()); ++i)
        if (before->entry(i).isModule() && m_tree->isExpanded(m_model->indexOf(i)))
            expanded.push_back(i);
    const bool isFirst = before && before->size() == before->ungrouped().size();
    m_syncing = true;
    const bool fresh = m_model->showBoxes(grouped);
    m_syncing = false;
    const FoldTreePtr& tree = m_model->tree();
    if (tree != grouped || !tree)
        return;
    const Syncing syncing(m_syncing);
    if (fresh) {
        for (const int entry : expanded)
            m_tree->expand(m_model->indexOf(entry));
        if (isFirst)
            expandFirst();
    }
    QSet<QString> openBoxes;
    for (int box = int(tree->ungrouped().size()); box < int(tree->size()); ++box) {
        const std::string& path = tree->entry(box).path;
        const bool isOpen = open.count(path) > 0;
        if (isOpen)
            openBoxes.insert(toQString(path));
        if (fresh || isOpen != m_openBoxes.contains(toQString(path)))
            m_tree->setExpanded(m_model->indexOf(box), isOpen);
        // Blocks that were taken out of the box are expanded.
        for (const int beside : tree->entry(tree->entry(box).parent).children)
            if (fresh && open.count(tree->entry(beside).path))
                m_tree->expand(m_model->indexOf(beside));
    }
    m_openBoxes = std::move(openBoxes);
    if (fresh) {
        applyFilter({});
        showSelected();
    }
}

bool ModulePanel::passesFilter(int entry) const
{
    if (!m_model->isBox(entry))
        return m_workspace.passesFilter(entry);
    const auto& blocks = m_model->tree()->entry(entry).children;
    return std::any_of(blocks.begin(), blocks.end(),
                       [this](int block) { return m_workspace.passesFilter(block); });
}

/// Hides rows without a node of the wanted verdict, and expands the others.
void ModulePanel::applyFilter(const QModelIndex& parent)
{
    const Syncing syncing(m_syncing);
    const bool filtered = m_workspace.verdictFilter().has_value();
    if (!parent.isValid() && !filtered && !m_filtered)
        return;
    for (int row = 0; row < m_model->rowCount(parent); ++row) {
        const auto index = m_model->index(row, 0, parent);
        const bool shown = passesFilter(m_model->entryOf(index));
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
    if (m_syncing || !m_model->tree())
        return; // boxes changed: `showBoxes` restores the open rows
    expandFirst();
    applyFilter({});
    syncSelection();
}

void ModulePanel::expandFirst()
{
    const FoldTreePtr& tree = m_model->tree();
    m_tree->expand(m_model->indexOf(FoldTree::kRoot));
    int rows = 1 + int(tree->entry(FoldTree::kRoot).children.size());
    std::vector<int> layer = tree->entry(FoldTree::kRoot).children;
    while (!layer.empty()) {
        std::vector<int> next;
        for (int entry : layer) {
            const auto& children = tree->entry(entry).children;
            if (!tree->entry(entry).isModule() || m_model->isBox(entry)
                || rows + int(children.size()) > kFirstRows)
                continue;
            rows += int(children.size());
            m_tree->expand(m_model->indexOf(entry));
            next.insert(next.end(), children.begin(), children.end());
        }
        layer = std::move(next);
    }
}

void ModulePanel::onRowsSelected()
{
    if (m_syncing)
        return;
    const auto rows = m_tree->selectionModel()->selectedRows();
    {
        const Syncing syncing(m_syncing);
        for (int i = 0; i < rows.size(); ++i) {
            const int entry = m_model->entryOf(rows[i]);
            if (m_model->isBox(entry))
                m_workspace.selectEntries(m_model->tree()->entry(entry).children, i > 0);
            else
                m_workspace.selectEntry(entry, i > 0);
        }
        if (rows.isEmpty())
            m_workspace.selection().clear();
    }
    if (rows.size() == 1)
        Q_EMIT revealWanted();
}

void ModulePanel::syncSelection()
{
    if (m_syncing)
        return;
    const Syncing syncing(m_syncing);
    showSelected();
}

void ModulePanel::showSelected()
{
    QItemSelection rows;
    QModelIndex first;
    const FoldTreePtr& tree = m_model->tree();
    auto entries = m_workspace.selectedEntries();
    // A box that is selected as a whole is one row.
    const auto boxes = tree && !m_workspace.selection().isModule()
        ? boxesWithin(*tree, m_workspace.selection().nodes())
        : std::vector<int>();
    std::erase_if(entries, [&](int entry) {
        return std::any_of(boxes.begin(), boxes.end(),
                           [&](int box) { return tree->isWithin(entry, box); });
    });
    entries.insert(entries.begin(), boxes.begin(), boxes.end());
    if (tree && entries.size() > kMostRows)
        entries = entriesWithin(*tree, m_workspace.selection().nodes());
    for (int entry : entries) {
        const auto index = m_model->indexOf(entry);
        if (!first.isValid())
            first = index;
        rows.select(index, m_model->indexOf(entry, ModuleTreeModel::ErrorColumn));
    }
    m_tree->selectionModel()->select(rows, QItemSelectionModel::ClearAndSelect);
    if (first.isValid()) {
        // Centre it: at the edge, each step of the selection would scroll again.
        if (!m_tree->viewport()->rect().contains(m_tree->visualRect(first)))
            m_tree->scrollTo(first, QAbstractItemView::PositionAtCenter);
        m_tree->selectionModel()->setCurrentIndex(first, QItemSelectionModel::NoUpdate);
    }
}

} // namespace qs
