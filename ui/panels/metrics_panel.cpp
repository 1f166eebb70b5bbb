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
#include "ui/style/widgets.h"

#include <QHBoxLayout>
#include <QLineEdit>
#include <QTableView>

#include <algorithm>

namespace qs {

MetricsPanel::MetricsPanel(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_filter(workspace)
    , m_model(new MetricsModel(workspace, this))
    , m_proxy(new FigureProxy(*m_model, this))
    , m_field(new QLineEdit(this))
    , m_note(makeMutedLabel(QString(), 11, this))
    , m_table(new QTableView(this))
{
    setObjectName(QStringLiteral("metricsPanel"));
    fillPanel(*this);
    setFocusProxy(m_table);
    setUpFilter(*m_field, "metricsFilter", tr("Filter of the table"),
                tr("Filter: conv, module:layer1, sqnr<30 …"));
    m_field->setToolTip(searchHint());
    m_field->setFont(uiFont(11.5));
    m_note->setObjectName(QStringLiteral("metricsNote"));
    auto* copy = makeButton("metricsCopy", tr("Copy as CSV"),
                            tr("Copy the selected rows, or all (Ctrl+C in the table)"), this);
    copy->setFont(uiFont(11));
    setNames(*m_table, "metricsTable", tr("Metrics of every node"));
    m_table->setModel(m_proxy);
    setUpTable(*m_table, 20);
    m_table->sortByColumn(MetricsModel::FirstMetric, Qt::AscendingOrder); // the worst first
    for (int column = 0; column < MetricsModel::kColumns; ++column)
        m_table->setColumnWidth(column, px(column < MetricsModel::StepColumn ? 130 : 96));
    m_table->setColumnWidth(MetricsModel::kNoiseColumn, px(190)); // fits its title
    auto* top = new QHBoxLayout;
    addItems(*top, {{m_field, 1}, m_note, copy});
    addItems(*makeVBox(this, {12, 8, 12, 8}, 6), {top, {m_table, 1}});
    connectCopy(*copy, *m_table, [this] { return csv(); });
    connectChosen(*m_table, [this](const QModelIndex& index) {
        m_workspace.selectNode(m_model->nodeOf(m_proxy->mapToSource(index).row()));
        Q_EMIT revealWanted();
    });
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
    if (m_workspace.facts().diagnosisStale() && !m_workspace.facts().errorsStale())
        note += tr(" · shares of noise: %1").arg(m_workspace.document().diagnosisStaleReason());
    m_note->setText(note);
}

QString MetricsPanel::csv() const
{
    return csvOfChosen(*m_proxy, *m_table->selectionModel());
}

} // namespace qs
