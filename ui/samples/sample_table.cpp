// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/samples/sample_table.h"

#include "ui/session/coalesce.h"
#include "ui/session/shown_run.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/theme.h"

namespace qs {

namespace {

QVariant classCell(const std::optional<std::int64_t>& of)
{
    return of ? QVariant(double(*of)) : QVariant();
}

QString classText(const std::optional<std::int64_t>& of)
{
    return of ? QString::number(*of) : QStringLiteral("-");
}

} // namespace

bool ClassPair::holds(const SampleRecord& record) const
{
    return record.int8Class == int8Class && (isOfLabels ? record.label : record.floatClass) == row;
}

TableColumns SampleTable::columnsOf()
{
    using Cells = TableColumn::Cells;
    return {{QString(), tr("The sample's first input: an image, a line, or a heat map")},
            {tr("sample"), tr("Index in the data, from 0"), Cells::Whole},
            {tr("dB"), tr("SQNR of the sample at the output that lost most"), Cells::Decibels},
            {tr("label"), tr("The sample's class in the data"), Cells::Whole},
            {tr("float"), tr("The class with the highest score in the float model"), Cells::Whole},
            {QString(), tr("Whether the two models give different classes")},
            {tr("int8"), tr("The class with the highest score in the int8 model"), Cells::Whole}};
}

SampleTable::SampleTable(Workspace& workspace, QObject* parent)
    : TableModel(columnsOf(), parent)
    , m_workspace(workspace)
{
    const auto later = coalesced(this, [this] { refresh(); });
    connect(&workspace, &Workspace::factsChanged, this, later);
    connect(&workspace.document(), &Document::modelChanged, this, later);
    connect(&workspace.document(), &Document::recipeChanged, this, later);
    connect(&workspace.document(), &Document::settingsChanged, this, later);
    connect(&workspace.document(), &Document::resultsChanged, this, later);
    refresh();
}

void SampleTable::refresh()
{
    const ComparisonPtr& comparison = m_workspace.facts().comparison();
    SampleErrorsPtr now = comparison ? comparison->sampleErrors : nullptr;
    m_samples = comparison ? comparison->samples : 0;
    if (now != m_errors) {
        beginResetModel();
        m_errors = std::move(now);
        endResetModel();
    }
    Q_EMIT changed();
}

SampleTable::State SampleTable::state() const
{
    const Document& document = m_workspace.document();
    if (!document.model())
        return State::NoModel;
    if (m_errors)
        return State::Found;
    if (m_workspace.facts().comparison())
        return State::Empty;
    return document.calibration() ? State::Uncompared : State::Uncalibrated;
}

QString SampleTable::stateText() const
{
    switch (state()) {
    case State::NoModel:
        return tr("Open a model to see which samples of the data lose most");
    case State::Uncalibrated:
        return tr("Not compared yet: choose data and calibrate, then compare");
    case State::Uncompared:
        return tr("Not compared yet: a comparison finds the samples that lose most");
    case State::Empty:
        return tr("Nothing to show: no output of the model has one row for each sample, or the "
                  "result is of an earlier version");
    case State::Found:
        break;
    }
    return {};
}

bool SampleTable::isStale() const
{
    return m_errors && !m_workspace.shownRun() && m_workspace.document().isStale(Stage::Compare);
}

QString SampleTable::remark() const
{
    if (const ShownRunPtr& run = m_workspace.shownRun(); m_errors && run)
        return run->title();
    return isStale() ? tr("out of date, %1").arg(m_workspace.document().staleReason(Stage::Compare))
                     : QString();
}

QString SampleTable::describe(int row) const
{
    const SampleRecord& of = record(row);
    QString text = tr("sample %1: %2")
                       .arg(of.index)
                       .arg(of.sqnrDb ? shownSqnr(*of.sqnrDb) : tr("no signal"));
    if (hasLabels())
        text += tr(", label %1").arg(classText(of.label));
    if (hasClasses())
        text += tr(", float %1, int8 %2").arg(classText(of.floatClass), classText(of.int8Class));
    return text;
}

bool SampleTable::isOfDocument() const
{
    return m_errors && !m_workspace.shownRun()
        && m_workspace.document().comparedOn() == m_workspace.document().settings().compared();
}

SampleInputsRequest SampleTable::source() const
{
    const Document& document = m_workspace.document();
    SampleInputsRequest request {document.model(), document.recipe(), {}, {}};
    request.settings.comparisonData = document.comparedOn();
    if (const ShownRunPtr& run = m_workspace.shownRun()) {
        const RunRecord& record = *run->record;
        if (request.model && record.modelSha256 != request.model->info().sha256)
            request.model.reset();
        if (record.recipe)
            request.recipe.calibration = record.recipe->calibration;
        request.settings.comparisonData = record.headline.data;
    }
    return request;
}

QVariant SampleTable::cell(int row, int column) const
{
    const SampleRecord& of = record(row);
    switch (column) {
    case SampleColumn:
        return double(of.index);
    case ErrorColumn:
        return of.sqnrDb ? QVariant(*of.sqnrDb) : QVariant();
    case LabelColumn:
        return classCell(of.label);
    case FloatColumn:
        return classCell(of.floatClass);
    case Int8Column:
        return classCell(of.int8Class);
    case ChangeColumn:
        return of.isChanged ? tr("changed") : QString();
    default:
        return {};
    }
}

QVariant SampleTable::data(const QModelIndex& index, int role) const
{
    const bool isMark = index.isValid()
        && (index.column() == Int8Column || index.column() == ChangeColumn)
        && record(index.row()).isChanged;
    if (isMark && role == Qt::ForegroundRole)
        return theme().danger;
    if (isMark && index.column() == ChangeColumn && role == Qt::DisplayRole)
        return QStringLiteral("≠");
    if (isMark && role == Qt::TextAlignmentRole && index.column() == ChangeColumn)
        return int(Qt::AlignCenter);
    if (index.isValid() && role == Qt::AccessibleTextRole && index.column() == PictureColumn)
        return describe(index.row());
    return TableModel::data(index, role);
}

} // namespace qs
