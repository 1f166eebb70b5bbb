// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/module_tree_model.h"

#include "ui/graph/repeated_blocks.h"
#include "ui/graph/style/colour_by.h"
#include "ui/models/table_model.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/theme.h"

#include <QFont>

#include <cmath>

namespace qs {

namespace {

constexpr auto kTerm = ErrorTerm::BornHere; // "worst" as in all views

/// Returns a title without the path of the row's parent module: "conv2 + bn2", "add 2".
QString withoutPath(const std::string& title, const std::string& path)
{
    const auto text = QString::fromStdString(title);
    for (const QString& end : {QStringLiteral("."), QStringLiteral(" · ")})
        if (const QString start = QString::fromStdString(path) + end;
            !path.empty() && text.startsWith(start))
            return text.mid(start.size());
    return text;
}

} // namespace

ModuleTreeModel::ModuleTreeModel(Workspace& workspace, QObject* parent)
    : QAbstractItemModel(parent)
    , m_workspace(workspace)
{
    connect(&workspace, &Workspace::treeChanged, this, [this] { take(m_workspace.foldTree()); });
    connect(&workspace, &Workspace::factsChanged, this, [this] { refresh({}); });
    take(workspace.foldTree());
}

void ModuleTreeModel::take(FoldTreePtr tree)
{
    beginResetModel();
    m_tree = std::move(tree);
    m_rowOf.assign(m_tree ? m_tree->size() : 0, -1);
    if (m_tree)
        readRows();
    endResetModel();
}

bool ModuleTreeModel::showBoxes(const FoldTreePtr& grouped)
{
    if (!m_tree || !grouped || &grouped->ungrouped() != m_workspace.foldTree().get())
        return false;
    bool same = &m_tree->ungrouped() == &grouped->ungrouped() && m_tree->size() == grouped->size();
    for (int box = int(grouped->ungrouped().size()); same && box < int(grouped->size()); ++box)
        same = m_tree->entry(box).children == grouped->entry(box).children;
    if (same)
        m_tree = grouped;
    else
        take(grouped);
    return !same;
}

void ModuleTreeModel::refresh(const QModelIndex& parent)
{
    const int rows = rowCount(parent);
    if (rows == 0)
        return;
    Q_EMIT dataChanged(index(0, 0, parent), index(rows - 1, ColumnCount - 1, parent));
    for (int row = 0; row < rows; ++row)
        refresh(index(row, 0, parent));
}

void ModuleTreeModel::readRows()
{
    for (int parent = 0; parent < int(m_tree->size()); ++parent) {
        const auto& children = m_tree->entry(parent).children;
        for (std::size_t row = 0; row < children.size(); ++row)
            m_rowOf[std::size_t(children[row])] = int(row);
    }
}

QModelIndex ModuleTreeModel::indexOf(int entry, int column) const
{
    if (!m_tree || entry < 0 || entry >= int(m_rowOf.size()))
        return {};
    while (entry != FoldTree::kRoot && m_rowOf[std::size_t(entry)] < 0)
        entry = m_tree->entry(entry).parent; // a list whose parts are all in a box has no row
    return createIndex(entry == FoldTree::kRoot ? 0 : m_rowOf[std::size_t(entry)], column,
                       quintptr(entry));
}

int ModuleTreeModel::entryOf(const QModelIndex& index) const
{
    return index.isValid() ? int(index.internalId()) : -1;
}

QModelIndex ModuleTreeModel::index(int row, int column, const QModelIndex& parent) const
{
    if (!hasIndex(row, column, parent))
        return {};
    if (!parent.isValid())
        return createIndex(0, column, quintptr(FoldTree::kRoot));
    return createIndex(row, column,
                       quintptr(m_tree->entry(entryOf(parent)).children[std::size_t(row)]));
}

QModelIndex ModuleTreeModel::parent(const QModelIndex& child) const
{
    const int entry = entryOf(child);
    if (entry <= FoldTree::kRoot || !m_tree)
        return {};
    return indexOf(m_tree->entry(entry).parent);
}

int ModuleTreeModel::rowCount(const QModelIndex& parent) const
{
    if (!m_tree || parent.column() > 0)
        return 0;
    if (!parent.isValid())
        return 1;
    return int(m_tree->entry(entryOf(parent)).children.size());
}

int ModuleTreeModel::columnCount(const QModelIndex&) const
{
    return ColumnCount;
}

QVariant ModuleTreeModel::text(int index, int column) const
{
    const auto& entry = m_tree->entry(index);
    const auto& facts = m_workspace.facts();
    if (column == Name) {
        int around = entry.parent;
        while (around > FoldTree::kRoot && isBox(around))
            around = m_tree->entry(around).parent;
        if (!entry.isModule())
            return withoutPath(entry.title, m_tree->entry(around).path);
        const QString label = QString::fromStdString(entry.label);
        return entry.className.empty()
            ? label
            : QStringLiteral("%1 (%2)").arg(label, QString::fromStdString(entry.className));
    }
    const auto nodes = m_tree->nodesOf(index);
    if (column == QConfigColumn) {
        if (entry.isModule())
            return facts.qconfigText(nodes);
        QString text;
        const Verdict verdict = facts.verdict(nodes);
        if (entry.kind == FoldEntry::Kind::Unit && verdict == Verdict::Shared)
            text = tr("shared");
        else if (entry.kind == FoldEntry::Kind::Unit && verdict == Verdict::ShapeOnly)
            text = tr("shape");
        else if (entry.kind == FoldEntry::Kind::Unit && facts.hasPlan()
                 && verdict != Verdict::Quantized)
            text = verdict == Verdict::Opaque ? tr("opaque") : QStringLiteral("float");
        return facts.decisionText(nodes, true, text);
    }
    if (isBox(index))
        return spreadText(index);
    const auto sqnr = facts.worstSqnr(nodes, kTerm);
    return sqnr ? shownSqnr(*sqnr, "") : QString();
}

QString ModuleTreeModel::spreadText(int box) const
{
    const auto spread = boxSpread(box);
    if (!spread)
        return {};
    // The column has room for whole decibels only.
    const QString worst = QString::number(std::lround(spread->first));
    const QString best = QString::number(std::lround(spread->second));
    return worst == best ? shownSqnr(spread->first, "") : worst + QStringLiteral("…") + best;
}

std::optional<std::pair<double, double>> ModuleTreeModel::boxSpread(int box) const
{
    return spreadOf(*m_tree, box, [this](int entry) {
        return m_workspace.facts().worstSqnr(m_tree->nodesOf(entry), kTerm);
    });
}

QVariant ModuleTreeModel::toolTip(int index, int column) const
{
    const auto& entry = m_tree->entry(index);
    const auto nodes = m_tree->nodesOf(index);
    const auto spread = column == ErrorColumn && isBox(index) ? boxSpread(index) : std::nullopt;
    if (spread)
        return tr("SQNR, %1: from %2 in the worst of %3 blocks to %4 in the best")
            .arg(errorTermText(kTerm), shownSqnr(spread->first))
            .arg(entry.repeats)
            .arg(shownSqnr(spread->second));
    if (column == ErrorColumn)
        return tr("SQNR, %1%2")
            .arg(errorTermText(kTerm),
                 entry.isModule() ? tr(", of the worst node inside") : QString());
    // First the row's text, which a narrow panel cuts.
    const bool isUnit = column == Name && !entry.isModule();
    QStringList lines {isUnit ? QString::fromStdString(entry.title)
                              : text(index, column).toString()};
    if (entry.isModule() && !entry.path.empty())
        lines << QString::fromStdString(entry.path);
    if (const auto* decided = m_workspace.facts().plan(m_workspace.facts().leader(nodes));
        decided && !entry.isModule() && !decided->reason.empty())
        lines << m_workspace.facts().titled(QString::fromStdString(decided->reason.text()));
    if (const QString out = m_workspace.facts().outputQConfigText(nodes);
        !entry.isModule() && !out.isEmpty())
        lines << tr("Its result: %1, set by you").arg(out);
    return lines.join(QLatin1Char('\n'));
}

QVariant ModuleTreeModel::data(const QModelIndex& index, int role) const
{
    const int id = entryOf(index);
    if (id < 0 || !m_tree)
        return {};
    switch (role) {
    case Qt::DisplayRole:
        return text(id, index.column());
    case Qt::ToolTipRole:
        return toolTip(id, index.column());
    case Qt::TextAlignmentRole:
        if (index.column() == ErrorColumn)
            return int(Qt::AlignRight | Qt::AlignVCenter);
        return {};
    case Qt::AccessibleTextRole: // the whole path
        if (index.column() == Name && id != FoldTree::kRoot)
            return QString::fromStdString(m_tree->entry(id).isModule() ? m_tree->entry(id).path
                                                                       : m_tree->entry(id).title);
        return text(id, index.column());
    case EntryRole:
        return id;
    case OverriddenRole:
        return !m_tree->entry(id).isModule()
            && m_workspace.facts().isOverridden(m_tree->nodesOf(id));
    case StaleRole:
        return m_workspace.facts().errorsStale();
    case ColorRole: {
        const auto sqnr = m_workspace.facts().worstSqnr(m_tree->nodesOf(id), kTerm);
        if (!sqnr)
            return {};
        const auto [best, worst] = m_workspace.facts().sqnrRange(kTerm);
        return cividis((best - *sqnr) / (best - worst));
    }
    default:
        return {};
    }
}

QVariant ModuleTreeModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    static const TableColumns columns {
        {tr("Modules"), tr("The model's modules; a double click opens or closes one")},
        {tr("qconfig"), tr("How it is quantized; a pencil marks a rule that you set")},
        {tr("dB"),
         tr("Signal to quantization noise born here, of the worst node inside; "
            "higher is better"),
         TableColumn::Cells::Decibels}};
    if (role == Qt::FontRole && orientation == Qt::Horizontal)
        return section == Name ? uiFont(12.5, 600) : uiFont(10.5);
    return headerOf(columns, section, orientation, role);
}

} // namespace qs
