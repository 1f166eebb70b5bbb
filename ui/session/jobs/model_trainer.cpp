// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/jobs/model_trainer.h"

#include "engine/base/text.h"
#include "engine/edit/cures/model_cures.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"

#include <QFileInfo>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

namespace qs {

namespace {

const QString kTrainTag = QStringLiteral("train");
const std::string kTrainStage = "train"; ///< of progress reports during the steps

const Cure* trainingOf(const Recipe& recipe)
{
    const auto found = std::find_if(recipe.cures.begin(), recipe.cures.end(),
                                    [](const Cure& cure) { return cure.kind == CureKind::Train; });
    return found == recipe.cures.end() ? nullptr : &*found;
}

/// True if the best state is one that steps led to.
bool isGain(const Training& training)
{
    return !training.points.empty() && training.points[training.best].step > 0;
}

bool hasGuard(const Training& training)
{
    return !training.points.empty() && training.points.front().guardDb
        && training.points[training.best].guardDb;
}

/// Returns "34.2 to 36.1 dB".
QString decibelsText(const Training& training)
{
    return QObject::tr("%1 to %2")
        .arg(shownSqnr(*training.points.front().guardDb, ""),
             shownSqnr(*training.points[training.best].guardDb));
}

QString guardText(const Training& training)
{
    return toQString(counted(training.guardSamples, "guard sample"));
}

/// The gain for a narrow button, which drops the second part if it does not fit.
QString shortGainText(const Training& training)
{
    return hasGuard(training)
        ? QStringLiteral("%1 · %2").arg(decibelsText(training), guardText(training))
        : gainText(training);
}

} // namespace

struct ModelTrainer::Seen
{
    void put(const Training& training)
    {
        const std::scoped_lock lock(m_mutex);
        m_newest = training;
    }
    Training get()
    {
        const std::scoped_lock lock(m_mutex);
        return m_newest;
    }

private:
    std::mutex m_mutex;
    Training m_newest;
};

QString gainText(const Training& training)
{
    if (!hasGuard(training))
        return toQString(counted(training.steps, "step"));
    return QObject::tr("%1 on %2").arg(decibelsText(training), guardText(training));
}

ModelTrainer::ModelTrainer(Workspace& workspace)
    : QObject(&workspace)
    , m_workspace(workspace)
{
    const Document* document = &workspace.document();
    connect(document, &Document::modelChanged, this, [this] {
        drop();
        m_training = {};
        m_result.clear();
        m_hasFailed = false;
        if (std::exchange(m_isWaiting, false))
            m_isRunning = false;
        Q_EMIT changed();
    });
    connect(document, &Document::graphEdited, this, [this] {
        if (!m_isRunning || m_isWaiting)
            return;
        drop();
        m_result = tr("Stopped: the graph is another one now.");
    });
    Pipeline& pipeline = workspace.pipeline();
    connect(&pipeline, &Pipeline::cancelled, this, [this] {
        m_workspace.pipeline().jobs().cancel(kTrainTag);
        if (std::exchange(m_isWaiting, false))
            end();
    });
    connect(&pipeline, &Pipeline::succeeded, this, &ModelTrainer::goOn);
    connect(&pipeline, &Pipeline::failed, this, [this](Stage, const Error& error) {
        if (std::exchange(m_isWaiting, false))
            endWith(error);
    });
    connect(&pipeline.jobs(), &JobRunner::progressed, this,
            [this](const QString& tag, const Progress& progress) {
                if (tag == kTrainTag)
                    showProgress(progress);
            });
}

bool ModelTrainer::canStart() const
{
    const Document& document = m_workspace.document();
    return document.model() && document.plan() && document.edited()
        && !document.settings().calibrationData.empty();
}

bool ModelTrainer::isReady() const
{
    const Document& document = m_workspace.document();
    return document.calibration() && !document.isStale(Stage::Calibrate) && document.plan()
        && !document.isStale(Stage::Plan);
}

void ModelTrainer::start(const TrainingChoices& choices)
{
    if (m_isRunning || !canStart())
        return;
    m_choices = choices;
    m_training = {};
    m_result.clear();
    m_hasFailed = m_isDropped = false;
    m_isRunning = true;
    m_fraction = 0;
    m_step = 0;
    m_workspace.document().refreshKeys();
    if (isReady()) {
        begin();
        return;
    }
    m_isWaiting = true;
    m_phase = tr("calibrating first");
    Q_EMIT changed();
    m_workspace.pipeline().runUpTo(Stage::Calibrate);
}

void ModelTrainer::goOn(Stage stage)
{
    if (!m_isWaiting)
        return;
    Pipeline& pipeline = m_workspace.pipeline();
    if (isReady()) {
        m_isWaiting = false;
        begin();
    } else if (stage != Stage::Calibrate && !pipeline.isRunning()) {
        pipeline.runUpTo(Stage::Calibrate); // another run had precedence
    }
}

void ModelTrainer::begin()
{
    const Document& document = m_workspace.document();
    TrainRequest request;
    request.start = document.calibration();
    request.file = document.edited()->file;
    request.model = request.start->prepared->model;
    request.plan = request.start->prepared->plan;
    request.recipe = document.recipe();
    request.settings = document.settings();
    request.training.steps = m_choices.steps;
    request.training.seconds = m_choices.seconds;
    request.training.learnsScales = m_choices.learnsScales;
    m_phase = tr("preparing");
    m_clock.invalidate();
    m_seen = std::make_shared<Seen>();
    Pipeline& pipeline = m_workspace.pipeline();
    pipeline.jobs().run(
        Lane::Engine, kTrainTag,
        [engine = &pipeline.engine(), request, path = m_choices.file.toStdString(),
         seen = m_seen](JobContext& job) {
            return engine->train(
                request, path, [seen](const Training& training) { seen->put(training); }, job);
        },
        this, [this](Result<SavedTraining> made) { take(std::move(made)); });
    Q_EMIT changed();
}

void ModelTrainer::cancel()
{
    if (m_isWaiting)
        m_workspace.pipeline().cancel();
    else
        m_workspace.pipeline().jobs().cancel(kTrainTag);
}

void ModelTrainer::drop()
{
    if (!m_isRunning || m_isWaiting)
        return;
    m_isDropped = true;
    m_workspace.pipeline().jobs().cancel(kTrainTag);
}

void ModelTrainer::showProgress(const Progress& progress)
{
    if (progress.stage == kTrainStage) {
        m_phase.clear();
        m_fraction = progress.fraction;
        m_step = int(std::lround(progress.fraction * m_choices.steps));
        if (!m_clock.isValid()) {
            m_clock.start();
            m_firstStep = m_step;
        }
    } else if (m_clock.isValid()) {
        m_phase = tr("saving the model");
    }
    if (!m_isDropped)
        m_training = m_seen->get();
    Q_EMIT changed();
}

QString ModelTrainer::progressText() const
{
    if (!m_phase.isEmpty())
        return m_phase;
    QStringList parts {tr("step %1 of %2").arg(m_step).arg(m_choices.steps)};
    const double seconds = m_clock.isValid() ? double(m_clock.elapsed()) / 1000 : 0;
    const int steps = m_step - m_firstStep;
    if (seconds >= 0.5 && steps > 0) {
        const double rate = steps / seconds;
        parts << tr("%1 steps/s").arg(rate, 0, 'f', rate < 10 ? 1 : 0);
        double left = (m_choices.steps - m_step) / rate;
        if (m_choices.seconds)
            left = std::min(left, *m_choices.seconds - seconds);
        if (left >= 1)
            parts << tr("%1 left").arg(toQString(durationText(left)));
    }
    return parts.join(QStringLiteral(" · "));
}

void ModelTrainer::take(Result<SavedTraining> made)
{
    if (m_isDropped) {
        m_training = {};
        end();
        return;
    }
    if (!made) {
        if (made.error().code == ErrorCode::Cancelled) {
            m_training = {};
            m_result = tr("Cancelled before the first step.");
            end();
        } else {
            endWith(made.error());
        }
        return;
    }
    m_training = std::move(made->training);
    m_training.model.reset(); // the file has it
    const QString gain = gainText(m_training);
    if (!isGain(m_training))
        m_result = tr("No step was better than the start. The recipe is unchanged.");
    else if (m_training.steps == m_choices.steps)
        m_result = gain;
    else
        m_result = QStringLiteral("%1 (%2)").arg(gain, toQString(m_training.stopped));
    end();
    if (isGain(m_training))
        m_workspace.change(tr("train: %1").arg(gain),
                           withTraining(m_workspace.document().recipe(), std::move(made->cure)));
    Q_EMIT finished();
}

void ModelTrainer::endWith(const Error& error)
{
    m_hasFailed = error.code != ErrorCode::Cancelled;
    m_result = m_hasFailed ? toQString(error.line()) : tr("Cancelled before the first step.");
    end();
    if (m_hasFailed)
        Q_EMIT failed(error);
}

void ModelTrainer::end()
{
    m_isRunning = false;
    m_phase.clear();
    m_seen.reset();
    Q_EMIT changed();
}

bool ModelTrainer::isPlannedForTraining() const
{
    const PlanPtr& plan = m_workspace.document().plan();
    if (plan != m_checkedPlan) {
        m_checkedPlan = plan;
        m_isPlanned
            = plan && std::any_of(plan->nodes.begin(), plan->nodes.end(), [](const NodePlan& node) {
                  return node.quantized && node.qconfig && isForTraining(*node.qconfig);
              });
    }
    return m_isPlanned;
}

bool ModelTrainer::isPartOfPipeline() const
{
    return m_isRunning || trainingOf(m_workspace.document().recipe()) || isPlannedForTraining();
}

StageStatus ModelTrainer::status() const
{
    using State = StageStatus::State;
    if (m_isRunning)
        return {State::Running, progressText(), m_fraction};
    if (m_hasFailed)
        return {State::Failed, tr("failed"), 0};
    const Cure* cure = trainingOf(m_workspace.document().recipe());
    if (!cure)
        return {State::Waiting, tr("weights for int8"), 0};
    const QString file = QFileInfo(toQString(cure->file)).fileName();
    if (cure->off)
        return {State::Waiting, tr("%1, off").arg(file), 0};
    if (isGain(m_training) && cure->file == m_choices.file.toStdString())
        return {State::Done, shortGainText(m_training), 0};
    return {State::Done, file, 0};
}

} // namespace qs
