// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/runs_panel.h"

#include "engine/base/text.h"
#include "ui/models/figure_proxy.h"
#include "ui/models/metrics_model.h"
#include "ui/plots/plot_style.h"
#include "ui/runs/run_library.h"
#include "ui/runs/run_table_model.h"
#include "ui/session/coalesce.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/shell/help_topics.h"
#include "ui/shell/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDateTime>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QInputDialog>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QScrollArea>
#include <QShortcut>
#include <QSplitter>
#include <QTableView>
#include <QTextEdit>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace qs {

namespace {

enum RunColumnPlace
{
    LetterPlace,
    NamePlace,
    MadePlace,
    OutputPlace,
    Top1Place,
    Int8Place,
    DecisionsPlace,
    StandingPlace
};
constexpr int kFolderRole = Qt::UserRole;

QString percentText(const std::optional<double>& part)
{
    return part ? QStringLiteral("%1 %").arg(*part * 100, 0, 'f', 2) : QString();
}

QString madeText(const std::string& utc)
{
    const auto time = QDateTime::fromString(toQString(utc), Qt::ISODate);
    return time.isValid() ? time.toLocalTime().toString(QStringLiteral("yyyy-MM-dd HH:mm:ss"))
                          : toQString(utc);
}

/// As long as its figures need, whatever the name is.
QString textTip(const KeptRun& run)
{
    QStringList lines {toQString(run.label.name)};
    for (const std::string& line : {run.label.note, run.problem, run.label.source})
        if (!line.empty())
            lines << toQString(line);
    return lines.join(QLatin1Char('\n'));
}

} // namespace

RunsPanel::RunsPanel(Workspace& workspace, RunLibrary& library, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_library(library)
    , m_filter(workspace)
    , m_list(new QTreeWidget(this))
    , m_model(new RunTableModel(this))
    , m_proxy(new FigureProxy(*m_model, this))
    , m_field(new QLineEdit(this))
    , m_term(new QComboBox(this))
    , m_note(new QLabel(this))
    , m_recipes(new QTextEdit(this))
    , m_table(new QTableView(this))
{
    setObjectName(QStringLiteral("runsPanel"));
    setHelpTopic(this, "runs");
    fillPanel(*this);
    setFocusProxy(m_list);
    auto* sides = new QSplitter(Qt::Horizontal, this);
    sides->setObjectName(QStringLiteral("runsSides"));
    sides->setHandleWidth(1);
    sides->setChildrenCollapsible(false);
    sides->addWidget(buildList());
    sides->addWidget(buildTable());
    sides->setSizes({px(430), px(620)});
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(sides);
    connect(&library, &RunLibrary::runsChanged, this, &RunsPanel::showRuns);
    connect(&library, &RunLibrary::tableChanged, this, &RunsPanel::showTable);
    connect(&library, &RunLibrary::shownChanged, this, &RunsPanel::showLetters);
    // What a run stands for beside the decisions changes with them.
    connect(&workspace, &Workspace::factsChanged, this, coalesced(this, [this] {
        showLetters();
        filter();
    }));
    connect(&workspace, &Workspace::treeChanged, this, [this] {
        m_filter.forget();
        showTable();
    });
    showRuns();
    showTable();
}

QPushButton* RunsPanel::addButton(const char* name, const QString& text, const QString& tip,
                                  void (RunsPanel::*work)())
{
    auto* button = new QPushButton(text, this);
    button->setObjectName(QString::fromLatin1(name));
    button->setToolTip(tip);
    button->setFont(uiFont(11));
    connect(button, &QPushButton::clicked, this, work);
    m_buttons << button;
    return button;
}

QWidget* RunsPanel::buildList()
{
    auto* side = new QWidget(this);
    auto* column = new QVBoxLayout(side);
    column->setContentsMargins(12, 8, 8, 8);
    column->setSpacing(6);
    auto* buttons = new QWidget(side);
    auto* row = new QHBoxLayout(buttons);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(4);
    row->addWidget(addButton("runsKeep", QStringLiteral("Keep…"),
                             QStringLiteral("Keep the current result under a name of your own"),
                             &RunsPanel::askToKeep));
    row->addWidget(addButton("runsName", QStringLiteral("Name…"),
                             QStringLiteral("Give the run another name (F2)"),
                             &RunsPanel::askName));
    row->addWidget(addButton("runsNoteIt", QStringLiteral("Note…"),
                             QStringLiteral("Put a line of your own at the run"),
                             &RunsPanel::askNote));
    row->addWidget(addButton("runsUse", QStringLiteral("Use its decisions"),
                             QStringLiteral("Make the run's recipe the one at hand; Ctrl+Z takes "
                                            "it back"),
                             &RunsPanel::useDecisions));
    row->addWidget(addButton("runsRemove", QStringLiteral("Delete…"),
                             QStringLiteral("Delete the run (Del)"), &RunsPanel::askRemove));
    row->addWidget(addButton("runsAddFile", QStringLiteral("Add a file…"),
                             QStringLiteral("Compare a quantized .pt2 or TorchScript file of any "
                                            "program with this model, as another run"),
                             &RunsPanel::askFile));
    row->addStretch(1);
    // Where there is no room for all of them, the one with the keyboard is scrolled to.
    auto* scroll = new QScrollArea(side);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setFocusPolicy(Qt::NoFocus);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidget(buttons);
    scroll->setFixedHeight(buttons->sizeHint().height());
    column->addWidget(scroll);
    m_list->setObjectName(QStringLiteral("runsList"));
    m_list->setAccessibleName(QStringLiteral("Kept runs"));
    m_list->setToolTip(
        QStringLiteral("Select two to four to see them side by side; B switches between them"));
    m_list->setHeaderLabels({QString(), QStringLiteral("Run"), QStringLiteral("Made"),
                             QStringLiteral("Output dB"), QStringLiteral("Top-1"),
                             QStringLiteral("Int8 ops"), QStringLiteral("Decisions"),
                             QStringLiteral("Of")});
    m_list->setRootIsDecorated(false);
    m_list->setUniformRowHeights(true);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_list->setFont(uiFont(11.5));
    m_list->header()->setFont(uiFont(11));
    m_list->header()->setStretchLastSection(true);
    const int widths[] = {26, 150, 132, 72, 72, 66, 96};
    for (int i = 0; i < int(std::size(widths)); ++i)
        m_list->setColumnWidth(i, px(widths[i]));
    m_list->installEventFilter(this);
    connect(m_list, &QTreeWidget::itemSelectionChanged, this, &RunsPanel::choose);
    column->addWidget(m_list, 1);
    return side;
}

QWidget* RunsPanel::buildTable()
{
    auto* side = new QWidget(this);
    m_field->setObjectName(QStringLiteral("runsFilter"));
    m_field->setAccessibleName(QStringLiteral("Filter of the runs' nodes"));
    m_field->setPlaceholderText(QStringLiteral("Filter: conv, module:layer1, sqnr<30 …"));
    m_field->setToolTip(searchHint());
    m_field->setClearButtonEnabled(true);
    m_field->setFont(uiFont(11.5));
    m_term->setObjectName(QStringLiteral("runsTerm"));
    m_term->setAccessibleName(QStringLiteral("Error terms to show"));
    m_term->setToolTip(QStringLiteral("Which error terms to show; copying takes all"));
    m_term->addItems({QStringLiteral("born here"), QStringLiteral("cumulative"),
                      QStringLiteral("isolated"), QStringLiteral("inherited"),
                      QStringLiteral("all terms")});
    m_term->setCurrentIndex(1);
    m_note->setObjectName(QStringLiteral("runsNote"));
    m_note->setFont(uiFont(11));
    m_note->setStyleSheet(QStringLiteral("color: %1;").arg(theme().muted.name()));
    auto* copy = new QPushButton(QStringLiteral("Copy as CSV"), side);
    copy->setObjectName(QStringLiteral("runsCopy"));
    copy->setFont(uiFont(11));
    copy->setToolTip(QStringLiteral("Copy the selected rows, or all (Ctrl+C in the table)"));
    m_table->setObjectName(QStringLiteral("runsTable"));
    m_table->setAccessibleName(QStringLiteral("Runs side by side, node by node"));
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
    m_recipes->setObjectName(QStringLiteral("runsRecipes"));
    m_recipes->setAccessibleName(QStringLiteral("Decisions that differ"));
    m_recipes->setReadOnly(true);
    m_recipes->setTabChangesFocus(true);
    m_recipes->setFrameShape(QFrame::NoFrame);
    m_recipes->setFont(uiFont(11.5));
    auto* top = new QHBoxLayout;
    top->addWidget(m_field, 1);
    top->addWidget(m_term);
    m_note->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    top->addWidget(m_note, 1);
    top->addWidget(copy);
    auto* parts = new QSplitter(Qt::Horizontal, side);
    parts->setHandleWidth(1);
    parts->setChildrenCollapsible(false);
    parts->addWidget(m_recipes);
    parts->addWidget(m_table);
    parts->setStretchFactor(0, 0);
    parts->setStretchFactor(1, 1);
    parts->setSizes({px(170), px(460)});
    auto* column = new QVBoxLayout(side);
    column->setContentsMargins(8, 8, 12, 8);
    column->setSpacing(6);
    column->addLayout(top);
    column->addWidget(parts, 1);
    const auto toClipboard = [this] { QApplication::clipboard()->setText(csv()); };
    connect(copy, &QPushButton::clicked, this, toClipboard);
    auto* key = new QShortcut(QKeySequence::Copy, m_table);
    key->setContext(Qt::WidgetShortcut);
    connect(key, &QShortcut::activated, this, toClipboard);
    const auto looked = [this](const QModelIndex& index) {
        if (index.isValid())
            look(m_proxy->mapToSource(index).row());
    };
    connect(m_table, &QTableView::clicked, this, looked);
    connect(m_table, &QTableView::activated, this, looked);
    connect(m_field, &QLineEdit::textChanged, this, &RunsPanel::filter);
    connect(m_term, &QComboBox::currentIndexChanged, this, &RunsPanel::showColumns);
    return side;
}

/// F2 and Delete mean the run while its list has the keyboard, not the node.
bool RunsPanel::eventFilter(QObject* watched, QEvent* event)
{
    const bool pressed = event->type() == QEvent::KeyPress;
    if (watched != m_list || (!pressed && event->type() != QEvent::ShortcutOverride))
        return QWidget::eventFilter(watched, event);
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool ours = key->modifiers() == Qt::NoModifier
        && (key->key() == Qt::Key_F2 || key->key() == Qt::Key_Delete);
    if (!ours)
        return QWidget::eventFilter(watched, event);
    event->accept();
    if (pressed)
        key->key() == Qt::Key_F2 ? askName() : askRemove();
    return true;
}

void RunsPanel::showRuns()
{
    const QStringList before = chosen();
    const QSignalBlocker quiet(m_list);
    m_list->clear();
    for (const KeptRun& run : m_library.runs()) {
        const RunHeadline& head = run.headline;
        const auto db = head.outputDb();
        auto* row = new QTreeWidgetItem(m_list);
        row->setData(LetterPlace, kFolderRole, toQString(run.folder));
        row->setText(NamePlace, toQString(run.label.name));
        row->setText(MadePlace, madeText(run.label.created));
        row->setText(OutputPlace, db ? QString::number(*db, 'f', 2) : QString());
        row->setText(Top1Place, percentText(head.int8Top1));
        row->setText(Int8Place,
                     head.quantizedOps ? QStringLiteral("%1 of %2")
                                             .arg(*head.quantizedOps)
                                             .arg(head.eligibleOps.value_or(0))
                                       : QString());
        row->setText(DecisionsPlace, toQString(run.problem.empty() ? run.decisions : run.problem));
        for (int column = 0; column < m_list->columnCount(); ++column)
            row->setToolTip(column, textTip(run));
        for (const int column : {OutputPlace, Top1Place, Int8Place})
            row->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
        if (!run.problem.empty())
            row->setForeground(DecisionsPlace, theme().danger);
        row->setSelected(before.contains(toQString(run.folder)));
        if (row->isSelected())
            m_list->setCurrentItem(row, 0, QItemSelectionModel::NoUpdate);
    }
    showLetters();
    choose();
}

/// What changes without the list: letters, the run that is shown, what each is of.
void RunsPanel::showLetters()
{
    const ShownRunPtr& shown = m_workspace.shownRun();
    for (int i = 0; i < m_list->topLevelItemCount(); ++i) {
        auto* row = m_list->topLevelItem(i);
        const QString folder = row->data(LetterPlace, kFolderRole).toString();
        const KeptRun* run = m_library.tryRun(folder);
        if (!run)
            continue;
        const bool isShown = shown && shown->folder == folder;
        row->setText(LetterPlace,
                     m_library.letterOf(folder) + (isShown ? QStringLiteral(" ●") : QString()));
        row->setText(StandingPlace, m_library.standing(*run));
        QFont font = m_list->font();
        font.setBold(isShown);
        row->setFont(NamePlace, font);
    }
    showButtons();
}

void RunsPanel::showButtons()
{
    const auto& document = m_workspace.document();
    const KeptRun* run = m_library.tryRun(currentFolder());
    const bool write = m_library.canWrite();
    const bool current = document.comparison() && !document.isStale(Stage::Compare);
    const bool enabled[] = {write && current,
                            write && run && run->problem.empty(),
                            write && run && run->problem.empty(),
                            run && run->problem.empty() && run->foreignPath.empty(),
                            write && run,
                            write && document.model()};
    for (qsizetype i = 0; i < m_buttons.size(); ++i)
        m_buttons[i]->setEnabled(enabled[i]);
}

QStringList RunsPanel::chosen() const
{
    QStringList folders;
    for (const auto* row : m_list->selectedItems())
        folders << row->data(LetterPlace, kFolderRole).toString();
    return folders;
}

QString RunsPanel::currentFolder() const
{
    const auto* row = m_list->currentItem();
    return row && row->isSelected() ? row->data(LetterPlace, kFolderRole).toString() : QString();
}

void RunsPanel::choose()
{
    m_library.putSideBySide(chosen());
    showLetters();
}

void RunsPanel::showTable()
{
    const auto& table = m_library.table();
    const auto& model = m_workspace.document().model();
    m_nodes = table && model ? rowNodes(*table, *model) : std::vector<NodeId>();
    m_proxy->keep({});
    if (m_model->table() != table.get()) {
        m_model->setTable(table);
        m_table->sortByColumn(-1, Qt::AscendingOrder); // what lost most first
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
                text += QStringLiteral("<br>the same decisions");
            for (const std::string& line : lines)
                text += QStringLiteral("<br>") + toQString(line).toHtmlEscaped();
        }
        text += QStringLiteral("</p>");
    }
    m_recipes->setHtml(text);
    filter();
    showLetters();
}

void RunsPanel::showColumns()
{
    const RunTable* table = m_model->table();
    if (!table)
        return;
    const int term = m_term->currentIndex();
    for (int i = 0; i < m_model->columnCount(); ++i) {
        const RunColumn& column = table->columns()[std::size_t(i)];
        m_table->setColumnHidden(i,
                                 column.isNumber() && term < int(kRunTerms.size())
                                     && column.term != kRunTerms[std::size_t(term)]);
        const bool wide = column.kind == RunColumn::Kind::Node
            || column.kind == RunColumn::Kind::Operator || column.kind == RunColumn::Kind::Module;
        m_table->setColumnWidth(i, px(wide ? 120 : column.isNumber() ? 112 : 84));
    }
}

void RunsPanel::look(int row)
{
    const NodeId node = m_nodes.empty() ? NodeId() : m_nodes[m_model->placeOf(row)];
    if (!node) {
        m_note->setText(QStringLiteral("%1: no counterpart in the open model")
                            .arg(toQString(m_model->rowAt(row).name)));
        return;
    }
    m_workspace.selectNode(node);
    Q_EMIT revealWanted();
}

void RunsPanel::filter()
{
    auto kept = m_filter.find(m_field->text());
    if (kept && *kept)
        m_proxy->keep([this, nodes = std::move(**kept)](int row) {
            return !m_nodes.empty() && nodes.contains(m_nodes[m_model->placeOf(row)]);
        });
    else
        m_proxy->keep({});
    const int shown = m_proxy->rowCount(), all = m_model->rowCount();
    QString note = shown == all ? toQString(counted(all, "node"))
                                : QStringLiteral("%1 of %2").arg(shown).arg(all);
    if (!kept)
        note = toQString(kept.error().message);
    else if (!m_library.table())
        note = QStringLiteral("Select two to four runs to see them side by side");
    m_note->setText(note);
    m_note->setToolTip(note);
}

QString RunsPanel::csv() const
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

void RunsPanel::askToKeep()
{
    bool taken = false;
    const QString name = QInputDialog::getText(
        this, QStringLiteral("Keep the result"), QStringLiteral("Name of the run:"),
        QLineEdit::Normal, m_workspace.undoStack().undoText(), &taken);
    if (taken && !name.trimmed().isEmpty())
        m_library.keepCurrent(name.trimmed());
}

void RunsPanel::askName()
{
    const KeptRun* run = m_library.tryRun(currentFolder());
    if (!run || !run->problem.empty() || !m_library.canWrite())
        return;
    bool taken = false;
    const QString name = QInputDialog::getText(
        this, QStringLiteral("Name the run"), QStringLiteral("Name of the run:"), QLineEdit::Normal,
        toQString(run->label.name), &taken);
    if (taken && !name.trimmed().isEmpty())
        m_library.rename(currentFolder(), name.trimmed());
}

void RunsPanel::askNote()
{
    const KeptRun* run = m_library.tryRun(currentFolder());
    if (!run)
        return;
    bool taken = false;
    const QString note = QInputDialog::getText(
        this, QStringLiteral("Note at the run"), QStringLiteral("A line of your own:"),
        QLineEdit::Normal, toQString(run->label.note), &taken);
    if (taken)
        m_library.setNote(currentFolder(), note);
}

void RunsPanel::askRemove()
{
    const KeptRun* run = m_library.tryRun(currentFolder());
    if (!run || !m_library.canWrite())
        return;
    const QString folder = currentFolder();
    QMessageBox box(QMessageBox::Question, QStringLiteral("Delete the run"),
                    QStringLiteral("Delete the run %1?").arg(toQString(run->label.name)),
                    QMessageBox::Yes | QMessageBox::Cancel, this);
    box.setObjectName(QStringLiteral("removeRunBox"));
    box.setInformativeText(QStringLiteral("Its figures and its recipe are gone for good."));
    box.button(QMessageBox::Yes)->setText(QStringLiteral("Delete"));
    box.setDefaultButton(QMessageBox::Cancel);
    if (box.exec() == QMessageBox::Yes)
        m_library.remove(folder);
}

void RunsPanel::askFile()
{
    const auto& model = m_workspace.document().model();
    if (!model)
        return;
    const QString path = QFileDialog::getOpenFileName(
        this, QStringLiteral("Add a quantized file"),
        QFileInfo(toQString(model->info().path)).absolutePath(),
        QStringLiteral("Quantized models (*.pt2 *.pt);;All files (*)"));
    if (!path.isEmpty())
        m_library.addFile(path);
}

void RunsPanel::useDecisions()
{
    m_library.useDecisions(currentFolder());
}

} // namespace qs
