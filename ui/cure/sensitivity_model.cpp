// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/cure/sensitivity_model.h"

#include "engine/plan/module_statistics.h"
#include "engine/plan/summaries/group_root.h"
#include "engine/result/part_text.h"
#include "ui/cure/proposed_cures.h"
#include "ui/session/coalesce.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"

#include <unordered_set>

namespace qs {

TableColumns SensitivityModel::columnsOf()
{
    using Cells = TableColumn::Cells;
    return {
        {tr("unit"), tr("A fusion, or a single operator")},
        {tr("noise"), tr("The unit's share of the outputs' noise, with its standard error"),
         Cells::Percent},
        {tr("gain dB"), tr("Predicted gain at the outputs if this unit alone were float"),
         Cells::Decibels, true},
        {tr("MACs"), tr("The unit's share of the model's multiplications"), Cells::Percent},
        {tr("now"),
         tr("Whether the plan quantizes the unit, only the value that it returns, or nothing")}};
}

SensitivityModel::SensitivityModel(Workspace& workspace, QObject* parent)
    : TableModel(columnsOf(), parent)
    , m_workspace(workspace)
{
    const auto later = coalesced(this, [this] { refresh(); });
    connect(&workspace, &Workspace::factsChanged, this, later);
    connect(&workspace, &Workspace::treeChanged, this, later);
    connect(&workspace.document(), &Document::modelChanged, this, later);
    connect(&workspace.document(), &Document::recipeChanged, this, later);
    connect(&workspace.document(), &Document::resultsChanged, this, later);
    connect(&workspace.causes(), &CauseFinder::changed, this, later);
    refresh();
}

SensitivityModel::State SensitivityModel::state() const
{
    const Document& document = m_workspace.document();
    if (!document.model())
        return State::NoModel;
    if (m_workspace.causes().isRunning())
        return State::Searching;
    if (m_diagnosis)
        return m_units.empty() ? State::Empty : State::Found;
    return document.calibration() ? State::NotSearched : State::Uncalibrated;
}

QString SensitivityModel::stateText() const
{
    switch (state()) {
    case State::NoModel:
        return tr("Open a model to see which units make the noise of its outputs");
    case State::Uncalibrated:
        return tr("Not calibrated yet: the noise of each unit follows from the calibrated ranges");
    case State::NotSearched:
        return tr("The causes of the noise are not searched yet");
    case State::Searching:
        return tr("Looking for causes, %1 %").arg(int(100 * m_workspace.causes().fraction()));
    case State::Empty:
        return tr("Nothing to show: no unit is quantized");
    case State::Found:
        break;
    }
    return {};
}

QString SensitivityModel::staleReason() const
{
    const Document& document = m_workspace.document();
    return m_diagnosis && document.isDiagnosisStale() ? document.diagnosisStaleReason() : QString();
}

void SensitivityModel::refresh()
{
    const Document& document = m_workspace.document();
    const bool isOther = document.diagnosis() != m_diagnosis || document.model() != m_model;
    m_diagnosis = document.diagnosis();
    if (document.model() != m_model)
        m_macs.clear();
    m_model = document.model();
    std::vector<UnitSensitivity> units = unitsNow();
    if (isOther || units.size() != m_units.size()) {
        beginResetModel();
        m_units = std::move(units);
        endResetModel();
    } else {
        m_units = std::move(units);
        refreshCells();
    }
    Q_EMIT changed();
}

std::vector<UnitSensitivity> SensitivityModel::unitsNow()
{
    std::vector<UnitSensitivity> units;
    const PlanPtr& plan = m_workspace.document().plan();
    if (!m_diagnosis || !m_model)
        return units;
    if (m_macs.empty())
        m_macs = macsByOperator(*m_model);
    std::unordered_map<NodeId, double> macs; // keyed by the last node of the unit
    double all = 0;
    for (const auto& [node, count] : m_macs) {
        macs[plan ? unitEnd(*m_model, *plan, node) : node] += double(count);
        all += double(count);
    }
    for (const UnitNoise& unit : m_diagnosis->units) {
        if (!m_model->tryGet(unit.node))
            continue;
        const auto known = macs.find(unit.node);
        units.push_back({unit, predictedGain(unit.noise.part),
                         known == macs.end() ? 0 : known->second / all, stateOf(unit.node)});
    }
    return units;
}

QString SensitivityModel::stateOf(NodeId node) const
{
    const PlanPtr& plan = m_workspace.document().plan();
    if (plan && isQuantizedIn(*m_model, *plan, node))
        return tr("quantized");
    return m_workspace.facts().outputObserver(node) ? tr("value only") : tr("float");
}

QString SensitivityModel::titleOf(int row) const
{
    return m_workspace.facts().title(m_units[std::size_t(row)].noise.node);
}

QString SensitivityModel::describe(int row) const
{
    const UnitSensitivity& unit = m_units[std::size_t(row)];
    return tr("%1\n%2 of the noise, %3 of the multiplications")
        .arg(titleOf(row),
             toQString(partText(unit.noise.noise.part, unit.noise.noise.standardError)),
             toQString(partText(unit.macs)));
}

void SensitivityModel::choose(const std::vector<int>& rows)
{
    const FoldTreePtr& tree = m_workspace.foldTree();
    std::vector<int> entries;
    for (const int row : rows)
        if (const int entry = tree ? tree->unitOf(m_units[std::size_t(row)].noise.node) : -1;
            entry >= 0)
            entries.push_back(entry);
    if (entries.empty())
        return;
    m_workspace.selectEntries(entries, false);
    Q_EMIT revealWanted();
}

std::vector<int> SensitivityModel::selectedRows() const
{
    const auto& nodes = m_workspace.selection().nodes();
    const std::unordered_set<NodeId> selected(nodes.begin(), nodes.end());
    std::vector<int> rows;
    for (std::size_t i = 0; i < m_units.size(); ++i)
        if (selected.contains(m_units[i].noise.node))
            rows.push_back(int(i));
    return rows;
}

QVariant SensitivityModel::cell(int row, int column) const
{
    const UnitSensitivity& unit = m_units[std::size_t(row)];
    switch (column) {
    case UnitColumn:
        return titleOf(row);
    case NoiseColumn:
        return unit.noise.noise.part;
    case GainColumn:
        return unit.gainDb;
    case MacsColumn:
        return unit.macs;
    default:
        return unit.state;
    }
}

QVariant SensitivityModel::data(const QModelIndex& index, int role) const
{
    if (index.isValid() && index.column() == NoiseColumn && role == Qt::DisplayRole) {
        const NoisePart& noise = m_units[std::size_t(index.row())].noise.noise;
        return toQString(partText(noise.part, noise.standardError));
    }
    if (index.isValid() && index.column() == UnitColumn && role == Qt::ToolTipRole)
        return tr("%1 · now: %2")
            .arg(titleOf(index.row()), m_units[std::size_t(index.row())].state);
    return TableModel::data(index, role);
}

} // namespace qs
