// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/dialogs/verify_dialog.h"

#include "engine/base/text.h"
#include "engine/export/exporter.h"
#include "engine/verify/certificate_rows.h"
#include "engine/verify/runtimes.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QCheckBox>
#include <QDir>
#include <QFormLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QStyle>
#include <QTreeWidget>

namespace qs {

namespace {

const QString kVerifyTag = QStringLiteral("verify");

QLineEdit* field(QWidget* parent, const char* name, const QString& text, const QString& hint)
{
    auto* edit = new QLineEdit(text, parent);
    edit->setObjectName(QString::fromLatin1(name));
    edit->setPlaceholderText(hint);
    return edit;
}

} // namespace

bool canVerify(const Workspace& workspace)
{
    const auto& document = workspace.document();
    return document.converted() && document.hasResult(Stage::Export)
        && !document.isStale(Stage::Export) && !document.exported().folder.empty();
}

VerifyDialog::VerifyDialog(Workspace& workspace, QWidget* parent)
    : QDialog(parent)
    , m_workspace(workspace)
    , m_jobs(&workspace.pipeline().jobs())
    , m_rows(new QTreeWidget(this))
    , m_summary(new QLabel(this))
    , m_progress(new QProgressBar(this))
    , m_start(new QPushButton(tr("&Verify"), this))
    , m_cancel(new QPushButton(tr("Close"), this))
{
    setObjectName(QStringLiteral("verifyDialog"));
    setWindowTitle(tr("Verify exports"));
    resize(px(860), px(480));
    const auto& document = workspace.document();
    auto* column = makeVBox(this, {20, 18, 20, 16});
    auto* form = new QFormLayout;
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    auto* folder = new QLabel(toQString(document.exported().folder), this);
    folder->setTextInteractionFlags(Qt::TextSelectableByMouse);
    form->addRow(tr("Folder"), folder);
    m_data = field(this, "verifyData", toQString(document.settings().compared()),
                   tr(".npz, .pt, .tar, a folder of images or .tar files, or \"sample\""));
    form->addRow(tr("&Data"), m_data);
    m_python = field(this, "verifyPython", {}, tr("default: the Python that contains LibTorch"));
    form->addRow(tr("&Python"), m_python);
    form->addRow(tr("Runtimes"), buildRuntimes());
    column->addLayout(form);
    setNames(*m_rows, "verifyRows", tr("Exports in their runtimes"));
    m_rows->setHeaderLabels({tr("File"), tr("Runtime"), tr("Result"), tr("Agreement"),
                             tr("Against float"), tr("Ours")});
    m_rows->header()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_rows->setSelectionMode(QAbstractItemView::SingleSelection);
    column->addWidget(m_rows, 1);
    m_summary->setObjectName(QStringLiteral("verifySummary"));
    m_summary->setWordWrap(true);
    m_summary->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_summary->setText(tr("Each export is loaded in its runtimes, each in a separate process; "
                          "its outputs are compared with those of the converted model here and "
                          "of the float model."));
    column->addWidget(m_summary);
    auto* buttons = new QHBoxLayout;
    m_progress->setObjectName(QStringLiteral("verifyProgress"));
    m_progress->setRange(0, 1000);
    buttons->addWidget(m_progress, 1);
    buttons->addStretch();
    m_start->setObjectName(QStringLiteral("verifyStart"));
    m_start->setProperty("primary", true);
    m_start->setDefault(true);
    m_cancel->setObjectName(QStringLiteral("verifyCancel"));
    m_cancel->setAutoDefault(false);
    addItems(*buttons, {m_cancel, m_start});
    column->addLayout(buttons);
    connect(m_start, &QPushButton::clicked, this, &VerifyDialog::start);
    connect(m_cancel, &QPushButton::clicked, this, [this] {
        auto& jobs = m_workspace.pipeline().jobs();
        if (jobs.isRunning(kVerifyTag))
            jobs.cancel(kVerifyTag);
        else
            reject();
    });
    connect(&workspace.pipeline().jobs(), &JobRunner::progressed, this,
            [this](const QString& tag, const Progress& progress) {
                if (tag == kVerifyTag)
                    showProgress(progress);
            });
    setRunning(false);
    m_start->setFocus();
}

VerifyDialog::~VerifyDialog()
{
    if (m_jobs) // already destroyed if the window itself closes
        m_jobs->cancel(kVerifyTag);
}

QWidget* VerifyDialog::buildRuntimes()
{
    auto* box = new QWidget(this);
    auto* row = makeHBox(box, {}, px(14));
    for (const std::string& name : runtimeNames()) {
        auto* check = new QCheckBox(toQString(name), box);
        check->setObjectName(QStringLiteral("runtime_%1").arg(toQString(name)));
        check->setChecked(true);
        row->addWidget(check);
        m_runtimes.emplace_back(name, check);
    }
    row->addStretch();
    m_speed = new QCheckBox(tr("&Measure speed"), box);
    setNames(*m_speed, "verifySpeed", {},
             tr("Time the float and the int8 model in the same runtime, one after the "
                "other, as a whole and by kind of operator"));
    row->addWidget(m_speed);
    return box;
}

std::vector<std::string> VerifyDialog::runtimesAsked() const
{
    std::vector<std::string> names;
    for (const auto& [name, check] : m_runtimes)
        if (check->isChecked())
            names.push_back(name);
    return names;
}

void VerifyDialog::setRunning(bool running)
{
    m_progress->setVisible(running);
    m_start->setEnabled(!running);
    m_data->setEnabled(!running);
    m_python->setEnabled(!running);
    for (const auto& entry : m_runtimes)
        entry.second->setEnabled(!running);
    m_speed->setEnabled(!running);
    m_cancel->setText(running ? tr("Cancel") : tr("Close"));
}

void VerifyDialog::start()
{
    const auto& document = m_workspace.document();
    const auto asked = runtimesAsked();
    if (asked.empty()) {
        m_summary->setText(tr("Choose a runtime."));
        return;
    }
    // All boxes checked means "the installed runtimes"; else the checked ones are named.
    const auto named = asked.size() == m_runtimes.size() ? std::vector<std::string>() : asked;
    m_rows->clear();
    m_progress->setValue(0);
    setRunning(true);
    m_workspace.pipeline().jobs().run(
        Lane::Engine, kVerifyTag,
        [engine = &m_workspace.pipeline().engine(), converted = document.converted(),
         folder = document.exported().folder, data = m_data->text().trimmed().toStdString(),
         python = m_python->text().trimmed().toStdString(), named,
         speed = m_speed->isChecked()](JobContext& job) -> Result<Certificate> {
            QS_TRY(StoredRun stored, readStoredRun(folder, job));
            return engine->verify({converted, std::move(stored), data, python, named, speed}, job);
        },
        this, [this](const Result<Certificate>& result) { showResult(result); });
}

void VerifyDialog::showProgress(const Progress& progress)
{
    m_progress->setValue(int(progress.fraction * m_progress->maximum()));
    m_summary->setText(toQString(progress.what));
}

void VerifyDialog::showResult(const Result<Certificate>& result)
{
    setRunning(false);
    if (!result) {
        m_summary->setText(result.error().code == ErrorCode::Cancelled
                               ? tr("Cancelled; nothing was written.")
                               : toQString(result.error().line()));
        m_start->setFocus();
        return;
    }
    showRows(*result);
    const QString failure = toQString(failureText(*result));
    const QDir folder(toQString(m_workspace.document().exported().folder));
    const QString written = folder.filePath(QString::fromLatin1(kCertificateFile));
    m_summary->setText(!failure.isEmpty()
                           ? tr("Not passed: %1. No certificate is written.").arg(failure)
                           : result->compared()
                           ? tr("Passed. The certificate is written: %1").arg(written)
                           : tr("All load, nothing could be compared. The certificate is written: "
                                "%1")
                                 .arg(written));
    if (const QString state = toQString(stateText(result->state)); !state.isEmpty())
        m_summary->setText(m_summary->text() + QLatin1Char(' ') + tr("State: %1.").arg(state));
    if (!result->setup.empty())
        m_summary->setText(m_summary->text() + QStringLiteral("\n") + toQString(result->setup));
    m_rows->setFocus(); // for the arrow keys
}

void VerifyDialog::showRows(const Certificate& certificate)
{
    using Outcome = RuntimeVerdict::Outcome;
    for (const CertificateRow& row : certificateRows(certificate)) {
        if (!row.isShown && row.lines.empty())
            continue;
        auto* item = new QTreeWidgetItem(m_rows,
                                         {toQString(row.file), toQString(row.runtime),
                                          toQString(row.outcome), toQString(row.agreement),
                                          toQString(row.there), toQString(row.here)});
        for (int column = 3; column < m_rows->columnCount(); ++column)
            item->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
        const bool stops = row.verdict == Outcome::Failed || row.verdict == Outcome::NotVerified;
        if (row.verdict != Outcome::Passed)
            item->setForeground(2, stops ? theme().danger : theme().warning);
        for (const std::string& line : row.lines) {
            auto* more = new QTreeWidgetItem(item, {toQString(line)});
            more->setToolTip(0, toQString(line));
            more->setForeground(0, theme().muted);
            more->setFirstColumnSpanned(true);
        }
        item->setExpanded(true);
        if (row.nodesApart.empty())
            continue;
        auto* nodes = new QTreeWidgetItem(
            item,
            {tr("%1 with integers that differ")
                 .arg(toQString(counted(std::int64_t(row.nodesApart.size()), "node")))});
        for (const std::string& line : row.nodesApart)
            (new QTreeWidgetItem(nodes, {toQString(line)}))->setFirstColumnSpanned(true);
        nodes->setForeground(0, theme().muted);
        nodes->setFirstColumnSpanned(true);
    }
    if (auto* first = m_rows->topLevelItem(0))
        m_rows->setCurrentItem(first);
}

} // namespace qs
