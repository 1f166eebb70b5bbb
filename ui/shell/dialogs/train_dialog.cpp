// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/dialogs/train_dialog.h"

#include "ui/plots/training_plot.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QCheckBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QLineEdit>
#include <QProgressBar>
#include <QSpinBox>

#include <algorithm>
#include <utility>

namespace qs {

namespace {

constexpr int kProgressParts = 1000;

bool isSameFile(const QString& path, const std::string& other)
{
    const auto place
        = [](const QString& file) { return QDir::cleanPath(QFileInfo(file).absoluteFilePath()); };
    return place(path) == place(toQString(other));
}

} // namespace

QString freeTrainedFile(const QString& modelPath, const QString& projectPath)
{
    const QFileInfo model(modelPath);
    const QDir folder = projectPath.isEmpty() ? model.dir() : QFileInfo(projectPath).dir();
    const QString name = model.completeBaseName() + QStringLiteral(".trained");
    QString file = folder.filePath(name + QStringLiteral(".pt2"));
    for (int i = 2; QFileInfo::exists(file); ++i)
        file = folder.filePath(QStringLiteral("%1-%2.pt2").arg(name).arg(i));
    return file;
}

TrainDialog::TrainDialog(Workspace& workspace, const QString& file, QWidget* parent)
    : QDialog(parent)
    , m_workspace(workspace)
    , m_steps(new QSpinBox(this))
    , m_minutes(new QSpinBox(this))
    , m_scales(new QCheckBox(tr("Learn the sca&les too"), this))
{
    setObjectName(QStringLiteral("trainDialog"));
    setWindowTitle(tr("Train"));
    const QSize usual(px(680), px(560));
    resize(parent ? usual.boundedTo(parent->window()->size()) : usual);
    auto* column = makeVBox(this, {20, 18, 20, 16}, 10);
    column->addWidget(
        makeParagraph(tr("Trains the weights with simulated quantization until the outputs are "
                         "close to the float model's, on all of the calibration data. Every "
                         "fourth batch, the guard, is only measured. The result is one step "
                         "that can be undone."),
                      this));
    auto* form = new QFormLayout;
    form->setHorizontalSpacing(14);
    form->setVerticalSpacing(8);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    setNames(*m_steps, "trainSteps", tr("Steps"), tr("One batch each"));
    m_steps->setRange(1, 1000000);
    form->addRow(tr("&Steps"), m_steps);
    setNames(*m_minutes, "trainMinutes", tr("Time limit in minutes"),
             tr("The training then ends with the best state so far"));
    m_minutes->setRange(0, 10000);
    for (auto* box : {m_steps, m_minutes}) {
        box->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
        box->setMinimumWidth(px(120));
    }
    m_minutes->setSpecialValueText(tr("none"));
    m_minutes->setSuffix(tr(" min"));
    form->addRow(tr("&Time limit"), m_minutes);
    setNames(*m_scales, "trainScales", tr("Learn the scales too"),
             tr("Also train the scales of the fake quantizers (LSQ), from the calibration's"));
    form->addRow(QString(), m_scales);
    form->addRow(tr("&Write to"), buildFile(file));
    m_problem = makeProblemLabel("trainProblem", this);
    form->addRow(QString(), m_problem);
    column->addLayout(form);
    m_plot = new TrainingPlot(workspace, this);
    column->addWidget(m_plot, 1);
    m_summary = new QLabel(this);
    setNames(*m_summary, "trainSummary", tr("State of the training"));
    m_summary->setWordWrap(true);
    m_summary->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(m_summary);
    buildButtons();
    const TrainingChoices& last = workspace.trainer().choices();
    m_steps->setValue(last.steps);
    m_minutes->setValue(int(last.seconds.value_or(0) / 60));
    m_scales->setChecked(last.learnsScales);
    if (workspace.trainer().isRunning())
        m_file->setText(last.file);
    connect(&workspace.trainer(), &ModelTrainer::changed, this, &TrainDialog::refresh);
    connect(m_file, &QLineEdit::textChanged, this, &TrainDialog::refresh);
    m_wasRunning = workspace.trainer().isRunning();
    refresh();
    (m_wasRunning ? static_cast<QWidget*>(m_cancel) : m_steps)->setFocus();
}

QWidget* TrainDialog::buildFile(const QString& file)
{
    auto* box = new QWidget(this);
    auto* row = makeHBox(box);
    m_file = new QLineEdit(QDir::toNativeSeparators(file), box);
    setNames(*m_file, "trainFile", tr("File of the trained model"));
    m_browse = makeButton("trainBrowse", tr("&Browse…"), tr("Choose the file"), box);
    m_browse->setAutoDefault(false);
    addItems(*row, {{m_file, 1}, m_browse});
    connect(m_browse, &QPushButton::clicked, this, [this] {
        const QString path = QFileDialog::getSaveFileName(this, tr("Trained model"), m_file->text(),
                                                          QStringLiteral("*.pt2"));
        if (!path.isEmpty())
            m_file->setText(path);
    });
    return box;
}

void TrainDialog::buildButtons()
{
    auto* row = new QHBoxLayout;
    m_progress = new QProgressBar(this);
    setNames(*m_progress, "trainProgress", tr("Progress of the training"));
    m_progress->setRange(0, kProgressParts);
    m_close = makeButton("trainClose", tr("Close"), tr("A running training goes on"), this);
    m_close->setAutoDefault(false);
    m_cancel = makeButton("trainCancel", tr("Sto&p"),
                          tr("End the training and keep its best state"), this);
    m_cancel->setAutoDefault(false);
    m_start = makeButton("trainStart", tr("St&art"), tr("Train the model"), this);
    m_start->setProperty("primary", true);
    m_start->setDefault(true);
    row->addWidget(m_progress, 1);
    row->addStretch();
    addItems(*row, {m_close, m_cancel, m_start});
    static_cast<QVBoxLayout*>(layout())->addLayout(row);
    connect(m_close, &QPushButton::clicked, this, &QDialog::reject);
    connect(m_cancel, &QPushButton::clicked, this, [this] { m_workspace.trainer().cancel(); });
    connect(m_start, &QPushButton::clicked, this, &TrainDialog::start);
}

TrainingChoices TrainDialog::choices() const
{
    TrainingChoices choices;
    choices.steps = m_steps->value();
    if (m_minutes->value() > 0)
        choices.seconds = 60.0 * m_minutes->value();
    choices.learnsScales = m_scales->isChecked();
    choices.file = QDir::fromNativeSeparators(m_file->text().trimmed());
    return choices;
}

QString TrainDialog::fileProblem() const
{
    const QString path = choices().file;
    const Document& document = m_workspace.document();
    if (path.isEmpty())
        return tr("Name a file for the trained model.");
    if (QFileInfo(path).isDir())
        return tr("This is a folder.");
    if (!QFileInfo(path).dir().exists())
        return tr("The folder of this file does not exist.");
    if (document.model() && isSameFile(path, document.model()->info().path))
        return tr("This is the file of the open model.");
    const auto& cures = document.recipe().cures;
    if (std::any_of(cures.begin(), cures.end(), [&](const Cure& cure) {
            return cure.kind == CureKind::Train && isSameFile(path, cure.file);
        }))
        return tr("The recipe's training is in this file; undo needs it. Choose another name.");
    return {};
}

void TrainDialog::start()
{
    m_workspace.trainer().start(choices());
}

void TrainDialog::refresh()
{
    const ModelTrainer& trainer = m_workspace.trainer();
    const bool runs = trainer.isRunning();
    for (QWidget* widget : {static_cast<QWidget*>(m_steps), static_cast<QWidget*>(m_minutes),
                            static_cast<QWidget*>(m_scales), static_cast<QWidget*>(m_file),
                            static_cast<QWidget*>(m_browse)})
        widget->setEnabled(!runs);
    if (std::exchange(m_wasRunning, runs) && !runs && trainer.canStart()
        && m_file->text() == trainer.choices().file && QFileInfo::exists(m_file->text())) {
        const QFileInfo file(m_file->text());
        m_file->setText(freeTrainedFile(toQString(m_workspace.document().model()->info().path),
                                        file.dir().filePath(QStringLiteral("project"))));
    }
    const QString problem = runs ? QString() : fileProblem();
    const bool replaces = !runs && problem.isEmpty() && QFileInfo::exists(choices().file);
    m_problem->setText(replaces ? tr("The file exists and will be replaced.") : problem);
    m_problem->setVisible(!m_problem->text().isEmpty());
    m_progress->setVisible(runs);
    m_progress->setValue(int(trainer.fraction() * kProgressParts));
    QStringList lines {runs ? trainer.progressText() : trainer.resultText()};
    for (const std::string& note : trainer.training().notes)
        lines << m_workspace.facts().titled(toQString(note));
    m_summary->setText(lines.join(u'\n'));
    m_summary->setVisible(!m_summary->text().isEmpty());
    const QWidget* focused = focusWidget();
    m_start->setVisible(!runs);
    m_start->setEnabled(problem.isEmpty() && trainer.canStart());
    m_cancel->setVisible(runs);
    if (focused == (runs ? m_start : m_cancel))
        (runs ? m_cancel : m_close)->setFocus();
}

} // namespace qs
