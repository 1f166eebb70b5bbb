// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/metrics_model.h"

#include "engine/graph/operators/class_parts.h"
#include "engine/result/part_text.h"
#include "ui/graph/style/colour_by.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"

#include <QItemSelectionModel>
#include <QStringList>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

QString csvCell(const QString& text)
{
    if (!text.contains(QLatin1Char(',')) && !text.contains(QLatin1Char('"'))
        && !text.contains(QLatin1Char('\n')))
        return text;
    return QStringLiteral("\"%1\"").arg(
        QString(text).replace(QLatin1Char('"'), QStringLiteral("\"\"")));
}

} // namespace

MetricsModel::MetricsModel(Workspace& workspace, QObject* parent)
    : QAbstractTableModel(parent)
    , m_workspace(workspace)
{
    refresh();
}

void MetricsModel::refresh()
{
    const ComparisonPtr& now = m_workspace.facts().comparison();
    if (now == m_comparison) {
        if (!m_rows.empty()) // qconfigs may be others by now
            Q_EMIT dataChanged(index(0, 0),
                               index(static_cast<int>(m_rows.size()) - 1, kColumns - 1));
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

std::optional<double> MetricsModel::number(int row, int column) const
{
    const auto& facts = m_workspace.facts();
    const NodeId node = m_rows[std::size_t(row)];
    if (column == StepColumn) {
        if (facts.shownRun()) // a run keeps no steps, and the current ones are not its
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

int MetricsModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(m_rows.size());
}

int MetricsModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : kColumns;
}

QVariant MetricsModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const int column = index.column();
    const bool isWord = column < StepColumn;
    if (role == Qt::TextAlignmentRole)
        return int((isWord ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    if (isWord)
        return role == Qt::DisplayRole || role == Qt::ToolTipRole || role == Qt::UserRole
            ? QVariant(word(index.row(), column, role != Qt::UserRole))
            : QVariant();
    if (column == kNoiseColumn && role == Qt::DisplayRole)
        return noiseText(index.row());
    const auto value = number(index.row(), column);
    if (!value || (role != Qt::DisplayRole && role != Qt::ToolTipRole && role != Qt::UserRole))
        return {};
    if (role == Qt::UserRole)
        return *value;
    if (role == Qt::ToolTipRole)
        return QString::number(*value, 'g', 17);
    const bool isMetric = column >= FirstMetric && column < kKlColumn;
    const int metric = isMetric ? (column - FirstMetric) % kMetrics : kMetrics;
    if (metric == 0)
        return shownSqnr(*value, "");
    return metric == 1 ? QString::number(*value, 'f', 5) : QString::number(*value, 'g', 3);
}

QString MetricsModel::noiseText(int row) const
{
    const NodeId node = m_rows[std::size_t(row)];
    const auto noise = m_workspace.facts().noise(std::span(&node, 1));
    return noise ? toQString(partText(noise->part, noise->standardError)) : QString();
}

QVariant MetricsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    static constexpr const char* kWords[]
        = {QT_TR_NOOP("node"), QT_TR_NOOP("operator"), QT_TR_NOOP("module"), QT_TR_NOOP("qconfig"),
           QT_TR_NOOP("step")};
    static constexpr const char* kMetricWords[]
        = {QT_TR_NOOP("dB"), QT_TR_NOOP("cosine"), QT_TR_NOOP("MSE"), QT_TR_NOOP("max")};
    if (orientation != Qt::Horizontal || section < 0 || section >= kColumns)
        return {};
    if (role == Qt::TextAlignmentRole)
        return int((section < StepColumn ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole)
        return {};
    const bool isHint = role == Qt::ToolTipRole;
    if (section == kKlColumn)
        return isHint ? tr("KL divergence: how far the converted values are spread otherwise than "
                           "the float ones, in nats, over 64 bins of the first batch's range; of "
                           "large values 131,072 elements a batch are counted")
                      : QStringLiteral("KL");
    if (section == kStepsApartColumn)
        return isHint ? tr("The most steps that the lowered form, run whole over one batch, is "
                           "from the reference form")
                      : tr("steps of difference");
    if (section == kNoiseColumn)
        return isHint ? tr("The node's share of the outputs' noise, with its standard error; Find "
                           "causes measures it")
                      : tr("share of the output's noise");
    if (section < FirstMetric)
        return tr(kWords[section]);
    return QStringLiteral("%1 %2").arg(
        errorTermText(kErrorTerms[(section - FirstMetric) / kMetrics]),
        tr(kMetricWords[(section - FirstMetric) % kMetrics]));
}

QString csvOf(const QAbstractItemModel& table, const std::vector<int>& rows)
{
    const int columns = table.columnCount();
    QStringList line;
    for (int column = 0; column < columns; ++column)
        line << csvCell(table.headerData(column, Qt::Horizontal).toString());
    QString out = line.join(QLatin1Char(',')) + QStringLiteral("\r\n");
    for (const int row : rows) {
        line.clear();
        for (int column = 0; column < columns; ++column) {
            const QVariant value = table.index(row, column).data(Qt::UserRole);
            line << (value.typeId() == QMetaType::Double
                         ? QString::number(value.toDouble(), 'g', 17)
                         : csvCell(value.toString()));
        }
        out += line.join(QLatin1Char(',')) + QStringLiteral("\r\n");
    }
    return out;
}

QString csvOfChosen(const QAbstractItemModel& table, const QItemSelectionModel& selected)
{
    std::vector<int> rows;
    for (const QModelIndex& index : selected.selectedRows())
        rows.push_back(index.row());
    std::sort(rows.begin(), rows.end());
    if (rows.size() < 2) {
        rows.clear();
        for (int row = 0; row < table.rowCount(); ++row)
            rows.push_back(row);
    }
    return csvOf(table, rows);
}

} // namespace qs
