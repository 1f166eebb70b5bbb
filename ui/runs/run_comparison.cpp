// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/run_comparison.h"

#include "engine/base/text.h"
#include "ui/graph/style/colour_by.h"
#include "ui/models/figure_proxy.h"
#include "ui/models/metrics_model.h"
#include "ui/runs/run_library.h"
#include "ui/runs/run_table_model.h"
#include "ui/session/coalesce.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/column_fit.h"
#include "ui/style/property_cards.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLineEdit>
#include <QTableView>
#include <QTextEdit>

#include <algorithm>

namespace qs {

RunComparison::RunComparison(Workspace& workspace, RunLibrary& library, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_library(library)
    , m_filter(workspace)
    , m_model(new RunTableModel(this))
    , m_proxy(new FigureProxy(*m_model, this))
    , m_field(new QLineEdit(this))
    , m_term(new QComboBox(this))
    , m_note(new ElidedLabel(QString(), uiFont(11), this))
    , m_recipes(new QTextEdit(this))
    , m_table(new QTableView(this))
{
    setUpFilter(*m_field, "runsFilter", tr("Filter of the runs' nodes"),
                tr("Filter: conv, module:layer1, sqnr<30 …"));
    m_field->setToolTip(searchHint());
    m_field->setFont(uiFont(11.5));
    setNames(*m_term, "runsTerm", tr("Error terms to show"),
             tr("Which error terms to show; copying takes all"));
    for (const ErrorTerm term : kErrorTerms)
        m_term->addItem(errorTermText(term));
    m_term->addItem(tr("all terms"));
    m_term->setCurrentIndex(1);
    m_term->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_term->setMinimumContentsLength(8);
    m_note->setObjectName(QStringLiteral("runsNote"));
    m_note->setColor(theme().muted);
    auto* copy
        = makeButton("runsCopy", tr("Copy"),
                     tr("Copy the selected rows, or all, as CSV (Ctrl+C in the table)"), this);
    copy->setFont(uiFont(11));
    setNames(*m_table, "runsTable", tr("Runs side by side, node by node"));
    m_table->setModel(m_proxy);
    setUpTable(*m_table, 20);
    m_fit = new ColumnFit(*m_table, *m_table->horizontalHeader(), 1, 110);
    m_table->horizontalHeader()->setFixedHeight(px(48)); // titles of three lines
    setNames(*m_recipes, "runsRecipes", tr("Decisions that differ"));
    m_recipes->setReadOnly(true);
    m_recipes->setTabChangesFocus(true);
    m_recipes->setFrameShape(QFrame::NoFrame);
    m_recipes->setFont(uiFont(11.5));
    m_side = new QWidget(this);
    auto* top = new QHBoxLayout;
    addItems(*top, {{m_field, 1}, m_term});
    m_note->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    addItems(*top, {{m_note, 1}, copy});
    auto* parts = makeSplitter("", Qt::Horizontal, m_side);
    m_recipes->setMinimumWidth(px(60));
    m_table->setMinimumWidth(px(80));
    parts->addWidget(m_recipes);
    parts->addWidget(m_table);
    parts->setStretchFactor(0, 1);
    parts->setStretchFactor(1, 4);
    parts->setSizes({px(110), px(500)});
    addItems(*makeVBox(m_side, {8, 8, 12, 8}, 6), {top, {parts, 1}});
    m_empty = makeParagraph(QString(), this);
    m_empty->setObjectName(QStringLiteral("runsEmpty"));
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setContentsMargins(16, 8, 16, 8);
    addItems(*makeVBox(this), {{m_side, 1}, {m_empty, 1}});
    connectCopy(*copy, *m_table, [this] { return csv(); });
    connectChosen(*m_table,
                  [this](const QModelIndex& index) { inspect(m_proxy->mapToSource(index).row()); });
    connect(m_field, &QLineEdit::textChanged, this, &RunComparison::filter);
    connect(m_term, &QComboBox::currentIndexChanged, this, &RunComparison::showColumns);
    connect(&library, &RunLibrary::tableChanged, this, &RunComparison::showTable);
    connect(&library, &RunLibrary::runsChanged, this, &RunComparison::filter);
    connect(&library, &RunLibrary::readingChanged, this, [this] { filter(); });
    connect(&workspace, &Workspace::factsChanged, this, coalesced(this, [this] { filter(); }));
    connect(&workspace, &Workspace::treeChanged, this, [this] {
        m_filter.forget();
        showTable();
    });
    showTable();
}

void RunComparison::showTable()
{
    const auto& table = m_library.table();
    const auto& model = m_workspace.document().model();
    m_nodes = table && model ? rowNodes(*table, *model) : std::vector<NodeId>();
    m_proxy->keep({});
    if (m_model->table() != table.get()) {
        m_model->setTable(table);
        m_table->sortByColumn(-1, Qt::AscendingOrder); // the greatest loss first
        showColumns();
    }
    QString text;
    for (std::size_t run = 0; table && run < table->runs().size(); ++run) {
        const QString name = QStringLiteral("%1 · %2").arg(
            toQString(runLetter(run)), toQString(table->runs()[run]->label.name).toHtmlEscaped());
        text += QStringLiteral("<p><b>%1</b>").arg(name);
        if (run > 0) {
            const auto lines = table->recipeLines(run);
            text += QStringLiteral("<br><span style='color:%1'>A ► %2:</span>")
                        .arg(theme().muted.name(), toQString(runLetter(run)));
            if (lines.empty())
                text += tr("<br>the same decisions");
            for (const std::string& line : lines)
                text += QStringLiteral("<br>") + toQString(line).toHtmlEscaped();
        }
        text += QStringLiteral("</p>");
    }
    m_recipes->setHtml(text);
    filter();
}

void RunComparison::showColumns()
{
    const RunTable* table = m_model->table();
    if (!table)
        return;
    const int term = m_term->currentIndex();
    auto& header = *m_table->horizontalHeader();
    int place = 2; // numbers are next to the node's name
    for (const bool numbers : {true, false})
        for (int i = 2; i < m_model->columnCount(); ++i)
            if (table->columns()[std::size_t(i)].isNumber() == numbers)
                header.moveSection(header.visualIndex(i), place++);
    // With a single term, only its columns are shown.
    const bool one = term < int(kErrorTerms.size());
    std::vector<int> shown, dispensable;
    for (int i = 0; i < m_model->columnCount(); ++i) {
        const RunColumn& column = table->columns()[std::size_t(i)];
        using Kind = RunColumn::Kind;
        const bool isOfTerm
            = column.isNumber() && column.term == kErrorTerms[std::size_t(one ? term : 0)];
        const bool isWord = column.kind == Kind::State || column.kind == Kind::Node
            || column.kind == Kind::QConfig;
        if (!one || isOfTerm || isWord)
            shown.push_back(i);
    }
    // Order of hiding: from the last column; other metrics than SQNR first.
    for (const auto kind : {RunColumn::Kind::QConfig, RunColumn::Kind::Metric,
                            RunColumn::Kind::Difference, RunColumn::Kind::State})
        for (auto it = shown.rbegin(); one && it != shown.rend(); ++it) {
            const RunColumn& column = table->columns()[std::size_t(*it)];
            if (column.kind == kind && (!column.isNumber() || column.metric > 0))
                dispensable.push_back(*it);
        }
    for (auto it = shown.rbegin(); one && it != shown.rend(); ++it)
        if (table->columns()[std::size_t(*it)].kind == RunColumn::Kind::Metric)
            dispensable.push_back(*it);
    m_fit->setColumns(std::move(shown), std::move(dispensable));
}

void RunComparison::inspect(int row)
{
    const NodeId node = m_nodes.empty() ? NodeId() : m_nodes[m_model->placeOf(row)];
    if (!node) {
        m_note->setText(
            tr("%1: no counterpart in the open model").arg(toQString(m_model->rowAt(row).name)));
        return;
    }
    m_workspace.selectNode(node);
    Q_EMIT revealWanted();
}

void RunComparison::filter()
{
    auto kept = m_filter.find(m_field->text());
    if (kept && *kept)
        m_proxy->keep([this, nodes = std::move(**kept)](int row) {
            return !m_nodes.empty() && nodes.contains(m_nodes[m_model->placeOf(row)]);
        });
    else
        m_proxy->keep({});
    QString note = m_proxy->countText("node");
    if (!kept)
        note = searchProblem(kept.error());
    else if (const auto read = m_library.readShare())
        note = tr("Reading the runs … %1 %").arg(int(*read * 100));
    const bool isSide = m_library.table() || m_library.readShare();
    m_side->setVisible(isSide);
    m_empty->setVisible(!isSide);
    m_empty->setText(m_library.runs().size() < 2
                         ? tr("Each comparison is kept as a run. With two or more, select two to "
                              "four to see them side by side.")
                         : tr("Select two to four runs to see them side by side."));
    m_note->setText(note);
}

QString RunComparison::csv() const
{
    return csvOfChosen(*m_proxy, *m_table->selectionModel());
}

} // namespace qs
