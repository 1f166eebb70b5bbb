// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/metrics_model.h"

#include "engine/convert/form_parts.h"
#include "engine/graph/operators/class_parts.h"
#include "engine/result/part_text.h"
#include "ui/graph/style/colour_by.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"

namespace qs {

TableColumns MetricsModel::columnsOf()
{
    using Cells = TableColumn::Cells;
    TableColumns out {{tr("node"), {}},
                      {tr("operator"), {}},
                      {tr("module"), {}},
                      {tr("qconfig"), {}},
                      {tr("step"), {}, Cells::Number}};
    for (const ErrorTerm term : kErrorTerms)
        for (const auto& [metric, cells] :
             {std::pair(tr("dB"), Cells::Decibels), std::pair(tr("cosine"), Cells::Cosine),
              std::pair(tr("MSE"), Cells::Number), std::pair(tr("max"), Cells::Number)})
            out.push_back({QStringLiteral("%1 %2").arg(errorTermText(term), metric), {}, cells});
    out.push_back({QStringLiteral("KL"),
                   tr("KL divergence between the distributions of the converted and the float "
                      "values, in nats, over 64 bins of the first batch's range; of large values "
                      "131,072 elements a batch are counted"),
                   Cells::Number});
    out.push_back({tr("steps of difference"),
                   tr("Largest difference in steps between the lowered and the reference form, "
                      "each run as a whole over one batch"),
                   Cells::Number});
    out.push_back({tr("share of the output's noise"),
                   tr("The node's share of the outputs' noise, with its standard error; Find "
                      "causes measures it"),
                   Cells::Number});
    out.push_back({tr("float ms"),
                   tr("Milliseconds per batch of the float operator and its fused operators, on "
                      "the CPU, measured during the comparison"),
                   Cells::Number});
    out.push_back({tr("int8 ms"),
                   tr("Milliseconds per batch in the lowered form, without conversions"),
                   Cells::Number});
    out.push_back(
        {tr("conversion ms"),
         tr("Milliseconds per batch to quantize and dequantize the result in the lowered form"),
         Cells::Number});
    return out;
}

MetricsModel::MetricsModel(Workspace& workspace, QObject* parent)
    : TableModel(columnsOf(), parent)
    , m_workspace(workspace)
{
    refresh();
}

void MetricsModel::refresh()
{
    const ComparisonPtr& now = m_workspace.facts().comparison();
    takeTimes();
    if (now == m_comparison) {
        refreshCells(); // qconfigs may have changed
        return;
    }
    beginResetModel();
    m_comparison = now;
    m_rows.clear();
    m_stepsApart.clear();
    if (m_comparison)
        for (const FormDeparture& departure : m_comparison->departures)
            m_stepsApart[departure.node] = departure.steps.largest;
    const auto& model = m_workspace.document().model();
    if (m_comparison && model)
        for (const NodeError& error : m_comparison->nodes)
            if (model->tryGet(error.node))
                m_rows.push_back(error.node);
    endResetModel();
}

void MetricsModel::takeTimes()
{
    const Document& document = m_workspace.document();
    const Facts& facts = m_workspace.facts();
    const bool isCurrent = facts.comparison() && !facts.shownRun() && document.converted();
    if (isCurrent && facts.comparison() == m_timed)
        return;
    m_timed = nullptr;
    m_latencies.clear();
    if (!isCurrent || document.isStale(Stage::Compare))
        return; // node ids are only valid for the timed conversion
    m_timed = facts.comparison();
    const ConvertedPtr converted = onModelInputs(document.converted());
    for (const UnitLatency& unit :
         unitLatencies(*converted, m_timed->floatTimes, m_timed->loweredTimes))
        m_latencies.emplace(unit.node, unit);
}

std::optional<double> MetricsModel::milliseconds(NodeId node, int column) const
{
    constexpr double kMilliseconds = 1000;
    const auto unit = m_latencies.find(node);
    if (unit == m_latencies.end())
        return std::nullopt;
    const auto& seconds = column == kFloatTimeColumn ? unit->second.floatSeconds
        : column == kInt8TimeColumn                  ? unit->second.int8Seconds
                                                     : unit->second.conversionSeconds;
    return seconds ? std::optional(kMilliseconds * *seconds) : std::nullopt;
}

std::optional<double> MetricsModel::number(int row, int column) const
{
    const auto& facts = m_workspace.facts();
    const NodeId node = m_rows[std::size_t(row)];
    if (column == StepColumn) {
        if (facts.shownRun()) // runs store no steps
            return std::nullopt;
        const QParams* params = facts.qparams(facts.outputObserver(node));
        return params && params->scale.size() == 1 ? std::optional(double(params->scale.front()))
                                                   : std::nullopt;
    }
    if (column == kStepsApartColumn) {
        const auto apart = m_stepsApart.find(node);
        return apart == m_stepsApart.end() ? std::nullopt : std::optional(apart->second);
    }
    if (column == kNoiseColumn) {
        const auto noise = facts.noise(std::span(&node, 1));
        return noise ? std::optional(noise->part) : std::nullopt;
    }
    if (column >= kFloatTimeColumn)
        return milliseconds(node, column);
    const NodeError* error = column < FirstMetric ? nullptr : facts.error(node);
    if (!error)
        return std::nullopt;
    if (column == kKlColumn)
        return error->kl;
    const auto& metrics = error->term(kErrorTerms[(column - FirstMetric) / kMetrics]);
    if (!metrics)
        return std::nullopt;
    switch ((column - FirstMetric) % kMetrics) {
    case 0:
        return metrics->sqnrDb;
    case 1:
        return metrics->cosine;
    case 2:
        return metrics->mse;
    default:
        return metrics->maxAbs;
    }
}

QString MetricsModel::word(int row, int column, bool shown) const
{
    const Node* node = m_workspace.document().model()
        ? m_workspace.document().model()->tryGet(m_rows[std::size_t(row)])
        : nullptr;
    if (!node)
        return {};
    switch (column) {
    case NodeColumn:
        return m_workspace.facts().title(node->id);
    case OperatorColumn:
        return toQString(wholeTarget(node->target));
    case ModuleColumn:
        return toQString(node->scope.path);
    default: {
        if (m_workspace.facts().shownRun())
            return {};
        const NodePlan* plan = m_workspace.facts().plan(node->id);
        const NodeId self[] = {node->id};
        return m_workspace.facts().decisionText(self, shown,
                                                plan && plan->qconfig ? toQString(plan->qconfigName)
                                                                      : QStringLiteral("float"));
    }
    }
}

QVariant MetricsModel::cell(int row, int column) const
{
    if (column < StepColumn)
        return word(row, column, true);
    const auto value = number(row, column);
    return value ? QVariant(*value) : QVariant();
}

QVariant MetricsModel::data(const QModelIndex& index, int role) const
{
    if (index.isValid() && index.column() < StepColumn && role == Qt::UserRole)
        return word(index.row(), index.column(), false);
    if (index.isValid() && index.column() == kNoiseColumn && role == Qt::DisplayRole)
        return noiseText(index.row());
    if (index.isValid() && (role == Qt::DisplayRole || role == Qt::ToolTipRole))
        if (const QString sampled = sampledText(index.row(), index.column(), role);
            !sampled.isEmpty())
            return sampled;
    return TableModel::data(index, role);
}

/// Returns a SQNR with its standard error if it was measured on a part of the samples; else empty.
QString MetricsModel::sampledText(int row, int column, int role) const
{
    const int metric = column - FirstMetric;
    if (metric < 0 || column >= kKlColumn || metric % kMetrics != 0)
        return {};
    const NodeError* error = m_workspace.facts().error(m_rows[std::size_t(row)]);
    const auto& metrics
        = error ? error->term(kErrorTerms[metric / kMetrics]) : std::optional<ErrorMetrics>();
    if (!metrics || !metrics->samples || !metrics->sqnrDb)
        return {};
    const QString shown = shownSqnr(*metrics->sqnrDb, "") + toQString(standardErrorText(*metrics));
    return role == Qt::DisplayRole
        ? shown
        : tr("%1 dB, measured on %2 of %3 samples")
              .arg(shownSqnr(*metrics->sqnrDb, "", 6) + toQString(standardErrorText(*metrics)))
              .arg(*metrics->samples)
              .arg(m_comparison->samples);
}

QString MetricsModel::noiseText(int row) const
{
    const NodeId node = m_rows[std::size_t(row)];
    const auto noise = m_workspace.facts().noise(std::span(&node, 1));
    return noise ? toQString(partText(noise->part, noise->standardError)) : QString();
}

} // namespace qs
