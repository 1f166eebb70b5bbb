// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/metrics_panel.h"

#include "engine/base/text.h"
#include "ui/models/figure_proxy.h"
#include "ui/models/metrics_model.h"
#include "ui/plots/plot_style.h"
#include "ui/session/coalesce.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QShortcut>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace qs {

MetricsPanel::MetricsPanel(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_filter(workspace)
    , m_model(new MetricsModel(workspace, this))
    , m_proxy(new FigureProxy(*m_model, this))
    , m_field(new QLineEdit(this))
    , m_note(new QLabel(this))
    , m_table(new QTableView(this))
{
    setObjectName(QStringLiteral("metricsPanel"));
    fillPanel(*this);
    setFocusProxy(m_table);
    m_field->setObjectName(QStringLiteral("metricsFilter"));
    m_field->setAccessibleName(tr("Filter of the table"));
    m_field->setPlaceholderText(tr("Filter: conv, module:layer1, sqnr<30 …"));
    m_field->setToolTip(searchHint());
    m_field->setClearButtonEnabled(true);
    m_field->setFont(uiFont(11.5));
    m_note->setObjectName(QStringLiteral("metricsNote"));
    m_note->setFont(uiFont(11));
    m_note->setStyleSheet(inkStyle(theme().muted));
    auto* copy = new QPushButton(tr("Copy as CSV"), this);
    copy->setObjectName(QStringLiteral("metricsCopy"));
    copy->setFont(uiFont(11));
    copy->setToolTip(tr("Copy the selected rows, or all (Ctrl+C in the table)"));
    m_table->setObjectName(QStringLiteral("metricsTable"));
    m_table->setAccessibleName(tr("Metrics of every node"));
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
        m_filter.forget();
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
    auto kept = m_filter.find(m_field->text());
    if (kept && *kept)
        m_proxy->keep([this, nodes = std::move(**kept)](int row) {
            return nodes.contains(m_model->nodeOf(row));
        });
    else
        m_proxy->keep({});
    QString note = m_proxy->countText("node");
    if (!kept)
        note = searchProblem(kept.error());
    else if (m_model->rowCount() == 0)
        note = tr("Compare to measure the nodes");
    else if (m_workspace.facts().errorsStale())
        note += QStringLiteral(" · %1").arg(m_workspace.document().staleReason(Stage::Compare));
    else if (const ShownRunPtr& run = m_workspace.shownRun())
        note += QStringLiteral(" · %1").arg(run->title());
    m_note->setText(note);
}

QString MetricsPanel::csv() const
{
    return csvOfChosen(*m_proxy, *m_table->selectionModel());
}

} // namespace qs
