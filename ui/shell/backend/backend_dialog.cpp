// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/backend/backend_dialog.h"

#include "engine/base/text.h"
#include "engine/configure/backend/lowering_table.h"
#include "ui/session/decisions/backend_decisions.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/shell/backend/entry_form.h"
#include "ui/shell/backend/entry_list.h"
#include "ui/shell/dialogs/lowering_dialog.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMessageBox>
#include <QPushButton>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QSplitter>

#include <algorithm>

namespace qs {

namespace {

/// Returns the entry's kernels: "static: quantized::conv2d_relu.new", one line per mode.
QString kernelsOf(const Recipe& recipe, const BackendPattern& entry)
{
    const std::string made = fusedModuleInEval(entry);
    const auto kinds
        = operatorKindsOf(made.empty() ? entry.pattern : std::vector<std::string> {made});
    QStringList lines;
    if (const auto rows = kernelRows(recipe))
        for (const KernelRow& row : *rows)
            if (row.pattern == kinds)
                lines << QStringLiteral("%1: %2").arg(toQString(kernelModeName(row.mode)),
                                                      kernelText(row.kernel));
    return lines.isEmpty() ? BackendDialog::tr("no row: it stays in reference form")
                           : lines.join(QLatin1Char('\n'));
}

QString countWords(const std::vector<BackendProblem>& problems)
{
    const auto errors = std::count_if(problems.begin(), problems.end(),
                                      [](const BackendProblem& one) { return one.error; });
    return problems.empty()
        ? BackendDialog::tr("Checked: nothing to report")
        : BackendDialog::tr("Checked: %1, %2")
              .arg(toQString(counted(errors, "error")),
                   toQString(counted(std::ptrdiff_t(problems.size()) - errors, "warning")));
}

} // namespace

BackendDialog::BackendDialog(Workspace& workspace, const Backend& backend, const QString& folder,
                             QWidget* parent)
    : QDialog(parent)
    , m_workspace(workspace)
    , m_draft(backend)
    , m_folder(folder)
    , m_name(new QLineEdit(toQString(backend.name), this))
    , m_entries(new EntryList(m_draft, this))
    , m_form(new EntryForm(this))
    , m_verdict(new QLabel(this))
    , m_problems(new QListWidget(this))
    , m_partner(makeButton(
          "backendPartner", tr("Add its part&ner"),
          tr("Add the entry that quantizes the result of this fusion, with the target's own types"),
          this))
    , m_file(new QLineEdit(this))
    , m_refusal(makeProblemLabel("backendRefusal", this))
    , m_save(new QPushButton(tr("Sa&ve and use"), this))
{
    setObjectName(QStringLiteral("backendDialog"));
    setWindowTitle(tr("Edit the backend"));
    resize(std::min(px(1080), 1240), std::min(px(660), 680));
    auto* scroll = new QScrollArea(this);
    scroll->setObjectName(QStringLiteral("entryScroll"));
    scroll->setWidget(m_form);
    scroll->setWidgetResizable(true);
    // Scrolls only vertically, unless the text is too large for the screen.
    for (QWidget* field : m_form->findChildren<QWidget*>())
        field->ensurePolished();
    scroll->setMinimumWidth(std::min(m_form->minimumSizeHint().width() + px(40), 800));
    auto* halves = new QSplitter(this);
    halves->setChildrenCollapsible(false);
    halves->addWidget(m_entries);
    halves->addWidget(scroll);
    halves->setSizes({px(480), px(560)});
    addItems(*makeVBox(this, {20, 14, 20, 14}, 8),
             {buildName(), {halves, 1}, buildProblems(), buildFile()});
    for (QPushButton* button : findChildren<QPushButton*>())
        button->setAutoDefault(false); // Enter in a field must not press a button
    connect(m_entries, &EntryList::chosen, this, &BackendDialog::onChosen);
    connect(m_entries, &EntryList::added, m_form, &EntryForm::focusPattern);
    connect(m_entries, &EntryList::refused, this, &BackendDialog::say);
    connect(m_form, &EntryForm::edited, this, &BackendDialog::onEdited);
    connect(m_form, &EntryForm::loweringWanted, this, [this] {
        auto* dialog = new LoweringDialog(m_workspace, this);
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->open();
    });
    connect(&workspace.document(), &Document::recipeChanged, this,
            [this] { showKernels(m_entries->current()); });
    m_entries->fill(0);
    m_entries->focusFilter();
}

QWidget* BackendDialog::buildName()
{
    auto* box = new QWidget(this);
    setNames(*m_name, "backendName", {}, tr("The backend's name in plans and reports"));
    m_name->setFixedWidth(px(220));
    auto* label = new QLabel(tr("Na&me"), box);
    label->setBuddy(m_name);
    auto* purpose = new QLineEdit(toQString(m_draft.backend().description), box);
    setNames(*purpose, "backendPurpose", {},
             tr("One line on what the target is for; lists of backends show it"));
    auto* purposeLabel = new QLabel(tr("Fo&r"), box);
    purposeLabel->setBuddy(purpose);
    auto* intro = makeParagraph(tr("What the target runs in integers: which operators, with which "
                                   "types, and what it fuses. A change is saved as another file."),
                                box);
    auto* row = makeHBox(nullptr, {}, 10);
    addItems(*row, {label, m_name, purposeLabel, {purpose, 1}});
    addItems(*makeVBox(box, {}, 6), {row, intro});
    connect(purpose, &QLineEdit::textChanged, this, [this](const QString& text) {
        m_draft.setDescription(text.toStdString());
        refresh();
    });
    connect(m_name, &QLineEdit::textChanged, this, [this](const QString& name) {
        m_draft.setName(name.toStdString());
        refresh();
    });
    return box;
}

QWidget* BackendDialog::buildProblems()
{
    auto* box = new QWidget(this);
    m_verdict->setObjectName(QStringLiteral("backendVerdict"));
    setNames(*m_problems, "backendProblems", tr("Problems of the backend"));
    m_problems->setFixedHeight(px(58));
    m_problems->setWordWrap(true);
    m_problems->setToolTip(tr("Choose a line to see its entry"));
    auto* head = new QHBoxLayout;
    addItems(*head, {{m_verdict, 1}, m_partner});
    addItems(*makeVBox(box, {}, 6), {head, m_problems});
    const auto go = [this](QListWidgetItem* item) {
        if (const int entry = item ? item->data(Qt::UserRole).toInt() : -1; entry >= 0)
            m_entries->showEntry(entry);
    };
    connect(m_problems, &QListWidget::currentItemChanged, this, go);
    connect(m_problems, &QListWidget::itemClicked, this, go);
    m_problems->hide();
    connect(m_partner, &QPushButton::clicked, this, &BackendDialog::addPartner);
    return box;
}

QWidget* BackendDialog::buildFile()
{
    auto* box = new QWidget(this);
    setNames(*m_file, "backendFile", {}, tr("The file that the recipe will name"));
    auto* label = new QLabel(tr("&File"), box);
    label->setBuddy(m_file);
    auto* browse = new QPushButton(tr("&Browse…"), box);
    m_save->setObjectName(QStringLiteral("backendSave"));
    m_save->setProperty("primary", true);
    auto* close = new QPushButton(tr("&Close"), box);
    close->setObjectName(QStringLiteral("backendClose"));
    auto* row = new QHBoxLayout;
    addItems(*row, {label, {m_file, 1}, browse});
    row->addSpacing(12);
    addItems(*row, {close, m_save});
    addItems(*makeVBox(box), {m_refusal, row});
    connect(m_file, &QLineEdit::textEdited, this, [this] { m_isFileOurs = false; });
    connect(browse, &QPushButton::clicked, this, &BackendDialog::chooseFile);
    connect(close, &QPushButton::clicked, this, &BackendDialog::reject);
    connect(m_save, &QPushButton::clicked, this, &BackendDialog::save);
    return box;
}

void BackendDialog::showEntry(int entry)
{
    m_entries->showEntry(entry);
}

void BackendDialog::onChosen(int entry)
{
    m_form->setEnabled(entry >= 0);
    m_form->setFields(entry < 0 ? EntryFields() : m_draft.fields(entry));
    showKernels(entry);
    say({});
    refresh();
}

void BackendDialog::onEdited()
{
    const int entry = m_entries->current();
    if (entry < 0)
        return;
    m_draft.setFields(entry, m_form->fields());
    showKernels(entry);
    say({});
    refresh();
}

void BackendDialog::addPartner()
{
    if (const auto added = m_draft.addPartner(m_entries->current()))
        m_entries->fill(*added);
    else
        say(toQString(added.error().line()));
}

void BackendDialog::showKernels(int entry)
{
    if (entry >= 0)
        m_form->setKernels(kernelsOf(m_workspace.document().recipe(),
                                     m_draft.backend().patterns[std::size_t(entry)]));
}

void BackendDialog::refresh()
{
    m_entries->refresh(); // a change of one entry may affect others
    showProblems();
    const int entry = m_entries->current();
    m_partner->setVisible(entry >= 0 && m_draft.lacksPartner(entry));
    m_save->setEnabled(m_draft.isChanged() && !m_draft.hasErrors());
    m_save->setToolTip(m_draft.hasErrors() ? tr("Fix the entries marked ✕ first")
                           : m_draft.isChanged()
                           ? tr("Write the file and plan by it; can be undone")
                           : tr("Nothing was changed"));
    if (m_isFileOurs)
        m_file->setText(backendFileIn(m_folder, m_draft.backend()));
}

void BackendDialog::showProblems()
{
    const auto& problems = m_draft.problems();
    m_verdict->setText(countWords(problems));
    m_verdict->setStyleSheet(m_draft.hasErrors() ? inkStyle(theme().danger)
                                                 : inkStyle(theme().muted));
    if (problems == m_listed)
        return; // keep the list: it may have the focus
    m_listed = problems;
    const QSignalBlocker quiet(m_problems);
    m_problems->clear();
    for (const BackendProblem& problem : problems) {
        auto* item = new QListWidgetItem(
            (problem.error ? QStringLiteral("✕ ") : QStringLiteral("! ")) + toQString(problem.text),
            m_problems);
        item->setForeground(problem.error ? theme().danger : theme().warning);
        item->setData(Qt::UserRole, problem.entry);
    }
    m_problems->setVisible(!problems.empty());
}

void BackendDialog::chooseFile()
{
    const QString path = QFileDialog::getSaveFileName(this, tr("File of the backend"),
                                                      m_file->text(), tr("Backends (*.json)"),
                                                      nullptr, QFileDialog::DontConfirmOverwrite);
    if (path.isEmpty())
        return;
    m_isFileOurs = false;
    m_file->setText(path);
}

void BackendDialog::save()
{
    const QString path = QDir::cleanPath(QDir(m_folder).absoluteFilePath(m_file->text().trimmed()));
    const auto used = useBackend(m_workspace, tr("use backend %1").arg(QFileInfo(path).fileName()),
                                 m_draft.backend(), path);
    if (used)
        accept();
    else
        say(toQString(used.error().line()));
}

void BackendDialog::reject()
{
    if (m_draft.isChanged()
        && QMessageBox::question(this, tr("Edit the backend"),
                                 tr("Close without saving? Changes are lost."),
                                 QMessageBox::Discard | QMessageBox::Cancel, QMessageBox::Cancel)
            != QMessageBox::Discard)
        return;
    QDialog::reject();
}

void BackendDialog::say(const QString& problem)
{
    m_refusal->setText(problem);
    m_refusal->setVisible(!problem.isEmpty());
}

} // namespace qs
