// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/cure/sensitivity_page.h"

#include "engine/base/text.h"
#include "ui/cure/no_causes.h"
#include "ui/cure/sensitivity_model.h"
#include "ui/cure/sensitivity_plot.h"
#include "ui/models/figure_proxy.h"
#include "ui/plots/plot_style.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/column_fit.h"
#include "ui/style/layout_barrier.h"
#include "ui/style/property_cards.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QScopedValueRollback>
#include <QStackedWidget>
#include <QTableView>

namespace qs {

SensitivityPage::SensitivityPage(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_units(new SensitivityModel(workspace, this))
    , m_proxy(new FigureProxy(*m_units, this))
    , m_stack(new QStackedWidget(this))
{
    setObjectName(QStringLiteral("sensitivityPage"));
    fillPanel(*this);
    m_empty = new NoCauses(QStringLiteral("sensitivity"), m_stack);
    m_stack->addWidget(new LayoutBarrier(m_empty, m_stack));
    connect(m_empty, &NoCauses::calibrateWanted, this, &SensitivityPage::calibrateWanted);
    connect(m_empty, &NoCauses::findWanted, this, &SensitivityPage::findWanted);
    m_stack->addWidget(buildUnits(m_stack));
    addItems(*makeVBox(this, {12, 6, 12, 6}, 4), {{m_stack, 1}});
    connect(m_units, &SensitivityModel::changed, this, &SensitivityPage::refresh);
    connect(m_units, &SensitivityModel::revealWanted, this, &SensitivityPage::revealWanted);
    connect(&workspace.selection(), &Selection::changed, this, &SensitivityPage::showSelection);
    refresh();
}

QWidget* SensitivityPage::buildUnits(QWidget* parent)
{
    auto* units = new QWidget(parent);
    auto* halves = makeSplitter("sensitivityHalves", Qt::Horizontal, units);
    auto* left = new QWidget(halves);
    m_note = new ElidedLabel(QString(), uiFont(11), left);
    m_note->setObjectName(QStringLiteral("sensitivityNote"));
    m_again = makeButton("sensitivityAgain", tr("Find again"), {}, left);
    m_again->setFont(uiFont(11));
    connect(m_again, &QPushButton::clicked, this, &SensitivityPage::findWanted);
    m_table = new QTableView(left);
    buildTable();
    auto* top = makeHBox(nullptr, {}, px(6));
    addItems(*top, {{m_note, 1}, m_again});
    addItems(*makeVBox(left, {0, 0, px(6), 0}, 4), {top, {m_table, 1}});
    halves->addWidget(left);
    halves->addWidget(new SensitivityPlot(m_workspace, *m_units, halves));
    halves->setStretchFactor(0, 3);
    halves->setStretchFactor(1, 1);
    halves->setSizes({px(480), px(160)});
    addItems(*makeVBox(units, {}, 0), {{halves, 1}});
    return units;
}

void SensitivityPage::buildTable()
{
    using Model = SensitivityModel;
    setNames(*m_table, "sensitivityTable", tr("Noise, gain and multiplications of every unit"));
    m_table->setModel(m_proxy);
    setUpTable(*m_table, 20);
    m_table->setFont(uiFont(11)); // narrower: titles are long
    m_table->setMinimumHeight(px(44));
    m_table->sortByColumn(Model::GainColumn, Qt::DescendingOrder);
    m_fit = new ColumnFit(*m_table, *m_table->horizontalHeader(), Model::UnitColumn, 80);
    m_fit->setColumns({Model::UnitColumn, Model::NoiseColumn, Model::GainColumn, Model::MacsColumn,
                       Model::StateColumn},
                      {Model::StateColumn});
    m_table->installEventFilter(this);
    connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this,
            &SensitivityPage::takeRows);
}

void SensitivityPage::refresh()
{
    using State = SensitivityModel::State;
    const State state = m_units->state();
    m_stack->setCurrentIndex(state == State::Found ? 1 : 0);
    m_empty->tell(m_units->stateText(),
                  state == State::Uncalibrated      ? NoCauses::Missing::Calibration
                      : state == State::NotSearched ? NoCauses::Missing::Search
                                                    : NoCauses::Missing::Nothing);
    if (state == State::Found)
        setFocusProxy(m_table);
    else
        setFocusProxy(m_empty->button());
    const QString old = m_units->staleReason();
    const QString count = toQString(counted(std::int64_t(m_units->units().size()), "unit"));
    m_note->setColor(old.isEmpty() ? theme().muted : theme().warning);
    m_note->setText(old.isEmpty()
                        ? tr("%1 · Space sorts by the column of the current cell").arg(count)
                        : tr("%1 · out of date, %2").arg(count, old));
    m_again->setVisible(!old.isEmpty());
    m_fit->fit();
    m_again->setToolTip(tr("Out of date, %1: find causes again").arg(old));
    showSelection();
}

/// Selects the units of the rows that the user chose.
void SensitivityPage::takeRows()
{
    if (m_isShowing)
        return;
    std::vector<int> rows;
    for (const QModelIndex& index : m_table->selectionModel()->selectedRows())
        rows.push_back(m_proxy->mapToSource(index).row());
    m_units->choose(rows);
}

/// Makes the rows of the selected nodes the selected rows.
void SensitivityPage::showSelection()
{
    const QScopedValueRollback guard(m_isShowing, true);
    const int column = std::max(0, m_table->currentIndex().column());
    QItemSelection rows;
    QModelIndex first;
    for (const int row : m_units->selectedRows()) {
        const QModelIndex index = m_proxy->mapFromSource(m_units->index(row, column));
        if (index.isValid())
            rows.select(index, index);
        if (!first.isValid() || index.row() < first.row())
            first = index;
    }
    QItemSelectionModel& shown = *m_table->selectionModel();
    shown.select(rows, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
    if (!first.isValid() || shown.isRowSelected(m_table->currentIndex().row()))
        return;
    shown.setCurrentIndex(first, QItemSelectionModel::NoUpdate);
    m_table->scrollTo(first);
}

bool SensitivityPage::eventFilter(QObject* watched, QEvent* event)
{
    if (watched != m_table || event->type() != QEvent::KeyPress
        || static_cast<QKeyEvent*>(event)->key() != Qt::Key_Space)
        return QWidget::eventFilter(watched, event);
    const int column = std::max(0, m_table->currentIndex().column());
    const bool isSame = m_proxy->sortColumn() == column;
    const bool isText
        = column == SensitivityModel::UnitColumn || column == SensitivityModel::StateColumn;
    const bool isDown = isSame ? m_proxy->sortOrder() == Qt::AscendingOrder : !isText;
    m_table->sortByColumn(column, isDown ? Qt::DescendingOrder : Qt::AscendingOrder);
    return true;
}

} // namespace qs
