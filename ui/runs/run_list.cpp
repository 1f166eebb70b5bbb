// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/run_list.h"

#include "engine/plan/summaries/coverage.h"
#include "ui/plots/plot_style.h"
#include "ui/runs/run_library.h"
#include "ui/session/coalesce.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/button_row.h"
#include "ui/style/column_fit.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QDateTime>
#include <QFileDialog>
#include <QFileInfo>
#include <QHeaderView>
#include <QInputDialog>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QTreeWidget>

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
    StandingPlace,
    MetricPlace ///< shown beside the output
};
constexpr int kFolderRole = Qt::UserRole;

QString percentText(const std::optional<double>& part)
{
    return part ? QStringLiteral("%1 %").arg(*part * 100, 0, 'f', 2) : QString();
}

QString madeText(const std::string& utc)
{
    const auto time = QDateTime::fromString(toQString(utc), Qt::ISODate);
    return time.isValid() ? time.toLocalTime().toString(QStringLiteral("MM-dd HH:mm"))
                          : toQString(utc);
}

/// Returns the details of a run for its tool tip.
QString textTip(const RunEntry& run)
{
    QStringList lines {toQString(run.label.name)};
    for (const std::string& line :
         {run.decisions, run.label.created, run.label.note, run.problem, run.label.source})
        if (!line.empty())
            lines << toQString(line);
    return lines.join(QLatin1Char('\n'));
}

} // namespace

RunList::RunList(Workspace& workspace, RunLibrary& library, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_library(library)
    , m_list(new QTreeWidget(this))
{
    setFocusProxy(m_list);
    auto* column = makeVBox(this, {12, 8, 8, 8}, 6);
    column->addWidget(new ButtonRow(
        "runsMore",
        {addButton("runsKeep", tr("Keep…"), tr("Keep the current result as a named run"),
                   &RunList::askToKeep),
         addButton("runsName", tr("Name…"), tr("Give the run another name (F2)"),
                   &RunList::askName),
         addButton("runsNoteIt", tr("Note…"), tr("Add a one-line note to the run"),
                   &RunList::askNote),
         addButton("runsUse", tr("Use"), tr("Use the run's recipe; can be undone"),
                   &RunList::useDecisions),
         addButton("runsRemove", tr("Delete…"), tr("Delete the run (Del)"), &RunList::askRemove),
         addButton("runsAddFile", tr("Add…"),
                   tr("Add a quantized file: compare a .pt2 or TorchScript file of any "
                      "program with this model, as another run"),
                   &RunList::askFile)},
        this));
    setNames(*m_list, "runsList", tr("Kept runs"),
             tr("Select two to four to see them side by side; B switches between them"));
    m_list->setHeaderLabels({QString(), tr("Run"), tr("Made"), tr("Output"), tr("Top-1"),
                             tr("Int8"), tr("Decisions"), tr("Of"), tr("Metric")});
    m_list->setRootIsDecorated(false);
    m_list->setUniformRowHeights(true);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_list->setFont(uiFont(11.5));
    m_list->header()->setFont(uiFont(11));
    m_list->header()->moveSection(MetricPlace, OutputPlace + 1);
    m_fit = new ColumnFit(*m_list, *m_list->header(), NamePlace, 120);
    m_list->installEventFilter(this);
    connect(m_list, &QTreeWidget::itemSelectionChanged, this, &RunList::choose);
    connect(m_list, &QTreeWidget::currentItemChanged, this, [this] { showButtons(); });
    column->addWidget(m_list, 1);
    connect(&library, &RunLibrary::runsChanged, this, &RunList::showRuns);
    connect(&library, &RunLibrary::tableChanged, this, &RunList::showLetters);
    connect(&library, &RunLibrary::shownChanged, this, &RunList::showLetters);
    // `standing` depends on the decisions.
    connect(&workspace, &Workspace::factsChanged, this, coalesced(this, [this] { showLetters(); }));
    showRuns();
}

QPushButton* RunList::addButton(const char* name, const QString& text, const QString& tip,
                                void (RunList::*work)())
{
    auto* button = makeButton(name, text, tip, this);
    button->setFont(uiFont(11));
    connect(button, &QPushButton::clicked, this, work);
    m_buttons << button;
    return button;
}

void RunList::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    m_library.reload();
}

/// F2 and Delete apply to the run, not the node, while the list has the focus.
bool RunList::eventFilter(QObject* watched, QEvent* event)
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

void RunList::showRuns()
{
    const QStringList before = chosen();
    const QString current = currentFolder();
    const QSignalBlocker quiet(m_list);
    m_list->clear();
    for (const RunEntry& run : m_library.runs()) {
        const ResultFigures& head = run.headline;
        const auto db = head.outputDb();
        auto* row = new QTreeWidgetItem(m_list);
        row->setData(LetterPlace, kFolderRole, toQString(run.folder));
        row->setText(NamePlace, toQString(run.label.name));
        row->setText(MadePlace, madeText(run.label.created));
        row->setText(OutputPlace, db ? QString::number(*db, 'f', 2) : QString());
        if (head.evaluation)
            row->setText(MetricPlace, metricText(head.evaluation->int8));
        row->setText(Top1Place, percentText(head.int8Top1));
        row->setText(Int8Place,
                     head.quantizedOps ? toQString(
                         coverageShortText(*head.quantizedOps, head.eligibleOps.value_or(0)))
                                       : QString());
        row->setText(DecisionsPlace, toQString(run.problem.empty() ? run.decisions : run.problem));
        for (int column = 0; column < m_list->columnCount(); ++column)
            row->setToolTip(column, textTip(run));
        for (const int column : {OutputPlace, MetricPlace, Top1Place, Int8Place})
            row->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
        if (!run.problem.empty())
            row->setForeground(DecisionsPlace, theme().danger);
        row->setSelected(before.contains(toQString(run.folder)));
        if (toQString(run.folder) == current)
            m_list->setCurrentItem(row, 0, QItemSelectionModel::NoUpdate);
    }
    fitColumns();
    showLetters();
    choose();
}

/// Shows the column of the user's metric only if a run has it.
void RunList::fitColumns()
{
    const auto& runs = m_library.runs();
    std::vector<int> shown {LetterPlace, NamePlace, MadePlace,      OutputPlace,
                            Top1Place,   Int8Place, DecisionsPlace, StandingPlace};
    if (std::any_of(runs.begin(), runs.end(),
                    [](const RunEntry& run) { return run.headline.evaluation.has_value(); }))
        shown.push_back(MetricPlace);
    m_fit->setColumns(std::move(shown),
                      {DecisionsPlace, MadePlace, StandingPlace, Int8Place, Top1Place});
}

/// Updates the cells that change while the list stays: letters, the shown run, `standing`.
void RunList::showLetters()
{
    const ShownRunPtr& shown = m_workspace.shownRun();
    for (int i = 0; i < m_list->topLevelItemCount(); ++i) {
        auto* row = m_list->topLevelItem(i);
        const QString folder = row->data(LetterPlace, kFolderRole).toString();
        const RunEntry* run = m_library.tryRun(folder);
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
    m_fit->fit();
    showButtons();
}

void RunList::showButtons()
{
    const auto& document = m_workspace.document();
    const RunEntry* run = m_library.tryRun(currentFolder());
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

QStringList RunList::chosen() const
{
    QStringList folders;
    for (const auto* row : m_list->selectedItems())
        folders << row->data(LetterPlace, kFolderRole).toString();
    return folders;
}

QString RunList::currentFolder() const
{
    const auto* row = m_list->currentItem();
    return row ? row->data(LetterPlace, kFolderRole).toString() : QString();
}

void RunList::choose()
{
    m_library.putSideBySide(chosen());
    showLetters();
}

void RunList::askToKeep()
{
    bool taken = false;
    const QString name
        = QInputDialog::getText(this, tr("Keep the result"), tr("Name of the run:"),
                                QLineEdit::Normal, m_library.automaticName(), &taken);
    if (taken && !name.trimmed().isEmpty())
        m_library.keepCurrent(name.trimmed());
}

void RunList::askName()
{
    const RunEntry* run = m_library.tryRun(currentFolder());
    if (!run || !run->problem.empty() || !m_library.canWrite())
        return;
    bool taken = false;
    const QString name
        = QInputDialog::getText(this, tr("Name the run"), tr("Name of the run:"), QLineEdit::Normal,
                                toQString(run->label.name), &taken);
    if (taken && !name.trimmed().isEmpty())
        m_library.rename(currentFolder(), name.trimmed());
}

void RunList::askNote()
{
    const RunEntry* run = m_library.tryRun(currentFolder());
    if (!run)
        return;
    bool taken = false;
    const QString note
        = QInputDialog::getText(this, tr("Note for the run"), tr("One line:"), QLineEdit::Normal,
                                toQString(run->label.note), &taken);
    if (taken)
        m_library.setNote(currentFolder(), note);
}

void RunList::askRemove()
{
    const RunEntry* run = m_library.tryRun(currentFolder());
    if (!run || !m_library.canWrite())
        return;
    const QString folder = currentFolder();
    QMessageBox box(QMessageBox::Question, tr("Delete the run"),
                    tr("Delete the run %1?").arg(toQString(run->label.name)),
                    QMessageBox::Yes | QMessageBox::Cancel, this);
    box.setObjectName(QStringLiteral("removeRunBox"));
    box.setInformativeText(tr("Its figures and its recipe are deleted permanently."));
    box.button(QMessageBox::Yes)->setText(tr("Delete"));
    box.setDefaultButton(QMessageBox::Cancel);
    if (box.exec() == QMessageBox::Yes)
        m_library.remove(folder);
}

void RunList::askFile()
{
    const auto& model = m_workspace.document().model();
    if (!model)
        return;
    const QString path = QFileDialog::getOpenFileName(
        this, tr("Add a quantized file"), QFileInfo(toQString(model->info().path)).absolutePath(),
        tr("Quantized models (*.pt2 *.pt);;All files (*)"));
    if (!path.isEmpty())
        m_library.addFile(path);
}

void RunList::useDecisions()
{
    m_library.useDecisions(currentFolder());
}

} // namespace qs
