// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/metrics_panel.h"

#include "engine/base/text.h"
#include "ui/models/metrics_model.h"
#include "ui/plots/plot_style.h"
#include "ui/session/coalesce.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/shell/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QShortcut>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace qs {

namespace {

/// Rows of the nodes that a search found, by number; cells without a number come last either way.
class MetricsProxy : public QSortFilterProxyModel
{
public:
    MetricsProxy(MetricsModel& model, QObject* parent)
        : QSortFilterProxyModel(parent)
        , m_metrics(model)
    {
        setSourceModel(&model);
        setSortRole(Qt::UserRole);
    }

    /// Nothing: all rows.
    void keep(std::optional<std::set<NodeId>> nodes)
    {
        m_kept = std::move(nodes);
        invalidateFilter();
    }

protected:
    bool filterAcceptsRow(int row, const QModelIndex&) const override
    {
        return !m_kept || m_kept->contains(m_metrics.nodeOf(row));
    }
    bool lessThan(const QModelIndex& a, const QModelIndex& b) const override
    {
        const QVariant left = a.data(Qt::UserRole), right = b.data(Qt::UserRole);
        if (left.isValid() != right.isValid())
            return sortOrder() == Qt::AscendingOrder ? left.isValid() : right.isValid();
        if (left.typeId() == QMetaType::Double)
            return left.toDouble() < right.toDouble();
        return left.toString() < right.toString();
    }

private:
    MetricsModel& m_metrics;
    std::optional<std::set<NodeId>> m_kept;
};

} // namespace

MetricsPanel::MetricsPanel(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_model(new MetricsModel(workspace, this))
    , m_proxy(new MetricsProxy(*m_model, this))
    , m_field(new QLineEdit(this))
    , m_note(new QLabel(this))
    , m_table(new QTableView(this))
{
    setObjectName(QStringLiteral("metricsPanel"));
    fillPanel(*this);
    setFocusProxy(m_table);
    m_field->setObjectName(QStringLiteral("metricsFilter"));
    m_field->setAccessibleName(QStringLiteral("Filter of the table"));
    m_field->setPlaceholderText(QStringLiteral("Filter: conv, module:layer1, sqnr<30 …"));
    m_field->setToolTip(searchHint());
    m_field->setClearButtonEnabled(true);
    m_field->setFont(uiFont(11.5));
    m_note->setObjectName(QStringLiteral("metricsNote"));
    m_note->setFont(uiFont(11));
    m_note->setStyleSheet(QStringLiteral("color: %1;").arg(theme().muted.name()));
    auto* copy = new QPushButton(QStringLiteral("Copy as CSV"), this);
    copy->setObjectName(QStringLiteral("metricsCopy"));
    copy->setFont(uiFont(11));
    copy->setToolTip(QStringLiteral("Copy the selected rows, or all (Ctrl+C in the table)"));
    m_table->setObjectName(QStringLiteral("metricsTable"));
    m_table->setAccessibleName(QStringLiteral("Metrics of every node"));
    m_table->setModel(m_proxy);
    m_table->setFont(monoFont(10.5));
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->setShowGrid(false);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSortingEnabled(true);
    m_table->setTabKeyNavigation(false);
    m_table->setWordWrap(false);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(px(20));
    m_table->horizontalHeader()->setFont(uiFont(11));
    m_table->horizontalHeader()->setHighlightSections(false);
    m_table->sortByColumn(MetricsModel::FirstMetric, Qt::AscendingOrder); // the worst first
    for (int column = 0; column < MetricsModel::kColumns; ++column)
        m_table->setColumnWidth(column, px(column < MetricsModel::StepColumn ? 130 : 96));
    auto* top = new QHBoxLayout;
    top->addWidget(m_field, 1);
    top->addWidget(m_note);
    top->addWidget(copy);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(12, 8, 12, 8);
    column->setSpacing(6);
    column->addLayout(top);
    column->addWidget(m_table, 1);
    const auto toClipboard = [this] { QApplication::clipboard()->setText(csv()); };
    connect(copy, &QPushButton::clicked, this, toClipboard);
    auto* key = new QShortcut(QKeySequence::Copy, m_table);
    key->setContext(Qt::WidgetShortcut);
    connect(key, &QShortcut::activated, this, toClipboard);
    const auto look = [this](const QModelIndex& index) {
        if (!index.isValid())
            return;
        m_workspace.selectNode(m_model->nodeOf(m_proxy->mapToSource(index).row()));
        Q_EMIT revealWanted();
    };
    connect(m_table, &QTableView::clicked, this, look);
    connect(m_table, &QTableView::activated, this, look);
    connect(m_field, &QLineEdit::textChanged, this, &MetricsPanel::filter);
    const auto later = coalesced(this, [this] { refresh(); });
    connect(&workspace, &Workspace::factsChanged, this, later);
    connect(&workspace, &Workspace::treeChanged, this, [this, later] {
        m_index.reset();
        later();
    });
    refresh();
}

void MetricsPanel::refresh()
{
    m_model->refresh();
    filter();
}

void MetricsPanel::filter()
{
    auto& proxy = static_cast<MetricsProxy&>(*m_proxy);
    const auto& tree = m_workspace.foldTree();
    const auto query = parseSearch(m_field->text());
    std::optional<std::set<NodeId>> kept;
    if (query && tree && !query->terms.empty()) {
        if (!m_index)
            m_index.emplace(tree, m_workspace.document().model());
        kept.emplace();
        for (const int unit :
             m_index->find(*query, m_workspace.facts(), m_workspace.bookmarks().nodes()))
            for (const NodeId node : tree->nodesOf(unit))
                kept->insert(node);
    }
    proxy.keep(std::move(kept));
    const int shown = proxy.rowCount(), all = m_model->rowCount();
    QString note = shown == all ? toQString(counted(all, "node"))
                                : QStringLiteral("%1 of %2").arg(shown).arg(all);
    if (!query)
        note = toQString(query.error().message);
    else if (all == 0)
        note = QStringLiteral("Compare to measure the nodes");
    else if (m_workspace.facts().errorsStale())
        note += QStringLiteral(" · %1").arg(m_workspace.document().staleReason(Stage::Compare));
    m_note->setText(note);
}

QString MetricsPanel::csv() const
{
    std::vector<int> rows;
    for (const QModelIndex& index : m_table->selectionModel()->selectedRows())
        rows.push_back(index.row());
    std::sort(rows.begin(), rows.end());
    if (rows.size() < 2) { // a click alone chooses a node, not what to copy
        rows.clear();
        for (int row = 0; row < m_proxy->rowCount(); ++row)
            rows.push_back(row);
    }
    return csvOf(*m_proxy, rows);
}

} // namespace qs
