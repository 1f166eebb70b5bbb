// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/dialogs/train_dialog.h"

#include "engine/edit/cures/model_cures.h"
#include "ui/plots/training_plot.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/shell/dialogs/train_options.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QLineEdit>
#include <QProgressBar>
#include <QStyle>

#include <utility>

namespace qs {

namespace {

constexpr int kProgressParts = 1000;
const QString kForecastTag = QStringLiteral("forecastTraining");
const QString kStoppedTag = QStringLiteral("stoppedTraining");

bool isSameFile(const QString& path, const std::string& other)
{
    const auto place
        = [](const QString& file) { return QDir::cleanPath(QFileInfo(file).absoluteFilePath()); };
    return place(path) == place(toQString(other));
}

/// The primary button is the one that Enter presses.
void setDefaultButton(QPushButton& button, bool isDefault)
{
    button.setDefault(isDefault);
    setPrimary(button, isDefault);
}

} // namespace

QString freeTrainedFile(const QString& modelPath, const QString& projectPath)
{
    const QFileInfo model(modelPath);
    const QDir folder = projectPath.isEmpty() ? model.dir() : QFileInfo(projectPath).dir();
    const QString name = model.completeBaseName() + QStringLiteral(".trained");
    QString file = folder.filePath(name + QStringLiteral(".pt2"));
    for (int i = 2; QFileInfo::exists(file) && !QFileInfo::exists(checkpointOf(file)); ++i)
        file = folder.filePath(QStringLiteral("%1-%2.pt2").arg(name).arg(i));
    return file;
}

TrainDialog::TrainDialog(Workspace& workspace, const QString& file, QWidget* parent)
    : QDialog(parent)
    , m_workspace(workspace)
{
    setObjectName(QStringLiteral("trainDialog"));
    setWindowTitle(tr("Train"));
    const QSize usual(px(720), px(600));
    resize(parent ? usual.boundedTo(parent->window()->size()) : usual);
    auto* column = makeVBox(this, {20, 18, 20, 16}, 10);
    column->addWidget(
        makeParagraph(tr("Trains the weights with simulated quantization, on all of the "
                         "calibration data. The result can be undone."),
                      this));
    m_options = new TrainOptions(this);
    m_options->addWide(tr("&Write to"), *buildFile(file));
    m_options->addWide({}, *buildNotes());
    column->addWidget(m_options);
    m_plot = new TrainingPlot(workspace, this);
    column->addWidget(m_plot, 1);
    m_summary = new QLabel(this);
    setNames(*m_summary, "trainSummary", tr("State of the training"));
    m_summary->setWordWrap(true);
    m_summary->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(m_summary);
    buildButtons();
    const ModelTrainer& trainer = workspace.trainer();
    m_options->setOptions(trainer.choices().training, trainer.choices().fromScratch);
    m_wasRunning = trainer.isRunning();
    if (m_wasRunning)
        m_file->setText(trainer.choices().file);
    connect(&trainer, &ModelTrainer::changed, this, &TrainDialog::refresh);
    connect(&workspace.document(), &Document::planChanged, this, &TrainDialog::forecast);
    connect(m_options, &TrainOptions::changed, this, [this] {
        const TrainingSettings wanted = m_options->settings();
        if (wanted.learnsScales != m_forecastFor.learnsScales
            || wanted.guard != m_forecastFor.guard)
            forecast();
        refresh();
    });
    connect(m_file, &QLineEdit::textChanged, this, [this] {
        findStopped();
        refresh();
    });
    findStopped();
    forecast();
    refresh();
    (m_wasRunning ? static_cast<QWidget*>(m_cancel) : m_options)->setFocus();
}

QWidget* TrainDialog::buildFile(const QString& file)
{
    auto* box = new QWidget(m_options);
    auto* row = makeHBox(box);
    m_file = new QLineEdit(QDir::toNativeSeparators(file), box);
    setNames(*m_file, "trainFile", tr("File of the trained model"));
    m_browse = makeButton("trainBrowse", tr("&Browse…"), tr("Choose the file"), box);
    m_browse->setAutoDefault(false);
    addItems(*row, {{m_file, 1}, m_browse});
    box->setFocusProxy(m_file);
    connect(m_browse, &QPushButton::clicked, this, [this] {
        const QString path = QFileDialog::getSaveFileName(this, tr("Trained model"), m_file->text(),
                                                          QStringLiteral("*.pt2"));
        if (!path.isEmpty())
            m_file->setText(path);
    });
    return box;
}

QWidget* TrainDialog::buildNotes()
{
    auto* box = new QWidget(m_options);
    m_problem = makeProblemLabel("trainProblem", box);
    m_note = makeParagraph({}, box);
    setNames(*m_note, "trainNote", tr("What is known before the training"));
    addItems(*makeVBox(box, {}, 4), {m_problem, m_note});
    return box;
}

void TrainDialog::buildButtons()
{
    auto* row = new QHBoxLayout;
    m_progress = new QProgressBar(this);
    setNames(*m_progress, "trainProgress", tr("Progress of the training"));
    m_progress->setRange(0, kProgressParts);
    m_close = makeButton("trainClose", tr("Close"), tr("A running training goes on"), this);
    m_cancel = makeButton("trainCancel", tr("Sto&p"),
                          tr("End the training and keep its best state"), this);
    m_resume = makeButton("trainResume", tr("Resu&me"),
                          tr("Continue the stopped training of this file"), this);
    for (auto* button : {m_close, m_cancel, m_resume})
        button->setAutoDefault(false);
    m_start = makeButton("trainStart", tr("St&art"), tr("Train the model"), this);
    row->addWidget(m_progress, 1);
    row->addStretch();
    addItems(*row, {m_close, m_cancel, m_resume, m_start});
    static_cast<QVBoxLayout*>(layout())->addLayout(row);
    connect(m_close, &QPushButton::clicked, this, &QDialog::reject);
    connect(m_cancel, &QPushButton::clicked, this, [this] { m_workspace.trainer().cancel(); });
    connect(m_resume, &QPushButton::clicked, this, [this] { start(true); });
    connect(m_start, &QPushButton::clicked, this, [this] { start(false); });
}

TrainingChoices TrainDialog::choices() const
{
    TrainingChoices choices;
    choices.training = m_options->settings();
    choices.fromScratch = m_options->isFromScratch();
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
    return {};
}

bool TrainDialog::isOfRecipe() const
{
    const Cure* training = trainingOf(m_workspace.document().recipe());
    return training && isSameFile(choices().file, training->file);
}

void TrainDialog::forecast()
{
    const Document& document = m_workspace.document();
    if (m_workspace.trainer().isRunning() || !m_workspace.trainer().canStart())
        return;
    TrainRequest request;
    request.file = document.edited()->file;
    request.model = document.model();
    request.plan = document.plan();
    request.recipe = document.recipe();
    request.settings = document.settings();
    request.training = m_forecastFor = m_options->settings();
    Pipeline& pipeline = m_workspace.pipeline();
    pipeline.jobs().run(
        Lane::Pool, kForecastTag,
        [engine = &pipeline.engine(), request](JobContext& job) {
            return engine->forecast(request, job);
        },
        this, [this](const Result<TrainingForecast>& made) { showForecast(made); });
}

void TrainDialog::showForecast(const Result<TrainingForecast>& forecast)
{
    m_options->setHasLabels(forecast && forecast->hasLabels);
    const bool isTooLarge = !forecast && forecast.error().code == ErrorCode::Device;
    m_forecast = forecast ? tr("Needs %1.").arg(toQString(forecast->memory))
        : isTooLarge      ? toQString(forecast.error().line())
                          : QString();
    refresh();
}

void TrainDialog::findStopped()
{
    m_stopped.reset();
    const QString checkpoint = checkpointOf(choices().file);
    if (m_workspace.trainer().isRunning() || !QFileInfo::exists(checkpoint))
        return;
    m_workspace.pipeline().jobs().run(
        Lane::Pool, kStoppedTag,
        [path = checkpoint.toStdString()](JobContext&) { return readInterrupted(path); }, this,
        [this, checkpoint](Result<InterruptedTraining> read) {
            if (!read || m_workspace.trainer().isRunning()
                || checkpoint != checkpointOf(choices().file))
                return;
            m_stopped = std::move(*read);
            m_options->setOptions(m_stopped->settings, m_stopped->fromScratch);
            refresh();
        });
}

void TrainDialog::start(bool resumes)
{
    TrainingChoices wanted = choices();
    wanted.resumes = resumes;
    m_workspace.trainer().start(wanted);
    if (m_workspace.trainer().isRunning())
        m_cancel->setFocus();
}

void TrainDialog::refresh()
{
    const ModelTrainer& trainer = m_workspace.trainer();
    const bool runs = trainer.isRunning();
    m_options->setEnabled(!runs);
    if (std::exchange(m_wasRunning, runs) && !runs && trainer.canStart()) {
        const QFileInfo file(trainer.choices().file);
        if (m_file->text() == trainer.choices().file && file.exists()
            && !QFileInfo::exists(checkpointOf(m_file->text())))
            m_file->setText(freeTrainedFile(toQString(m_workspace.document().model()->info().path),
                                            file.dir().filePath(QStringLiteral("project"))));
        else
            findStopped();
    }
    QString problem = runs ? QString() : fileProblem();
    if (!runs && problem.isEmpty())
        problem = m_options->problem();
    refreshButtons(runs, problem);
    m_progress->setVisible(runs);
    m_progress->setValue(int(trainer.fraction() * kProgressParts));
    QStringList lines {runs ? trainer.progressText() : trainer.resultText()};
    for (const std::string& note : trainer.training().notes)
        lines << m_workspace.facts().titled(toQString(note));
    m_summary->setText(lines.join(u'\n'));
    m_summary->setVisible(!m_summary->text().isEmpty());
}

void TrainDialog::refreshButtons(bool runs, const QString& problem)
{
    const QString path = choices().file;
    const bool isStopped = !runs && problem.isEmpty() && QFileInfo::exists(checkpointOf(path));
    const bool isTaken = !runs && problem.isEmpty() && isOfRecipe();
    QString words = problem;
    if (isTaken)
        words = isStopped
            ? tr("The recipe's training is in this file. A new one needs another name.")
            : tr("The recipe's training is in this file; undo needs it. Choose another name.");
    else if (!runs && problem.isEmpty() && QFileInfo::exists(path))
        words = tr("The file exists and will be replaced.");
    showNotes(words, isStopped);
    const bool canStart = problem.isEmpty() && m_workspace.trainer().canStart();
    const QWidget* focused = focusWidget();
    m_start->setVisible(!runs);
    m_start->setEnabled(canStart && !isTaken);
    m_resume->setVisible(isStopped);
    m_resume->setEnabled(canStart);
    setDefaultButton(*m_resume, isStopped && isTaken);
    setDefaultButton(*m_start, !(isStopped && isTaken));
    m_cancel->setVisible(runs);
    if (!runs && focused == m_cancel)
        m_close->setFocus();
}

void TrainDialog::showNotes(const QString& problem, bool isStopped)
{
    QStringList notes;
    if (isStopped)
        notes << (m_stopped ? tr("Stopped at step %1 of %2. Resume continues with these options.")
                                  .arg(m_stopped->steps)
                                  .arg(m_stopped->settings.steps)
                            : tr("The training of this file was stopped. Resume continues it."));
    else if (!m_workspace.trainer().isRunning() && !m_forecast.isEmpty())
        notes << m_forecast;
    m_problem->setText(problem);
    m_note->setText(notes.join(QLatin1Char(' ')));
    for (QLabel* label : {m_problem, m_note})
        label->setVisible(!label->text().isEmpty());
    m_note->parentWidget()->setVisible(!problem.isEmpty() || !notes.isEmpty());
}

} // namespace qs
