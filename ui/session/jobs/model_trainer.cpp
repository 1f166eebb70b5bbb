// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/jobs/model_trainer.h"

#include "engine/edit/cures/model_cures.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"

#include <QDir>
#include <QEventLoop>
#include <QFileInfo>

#include <cmath>
#include <mutex>
#include <utility>

namespace qs {

namespace {

const QString kTrainTag = QStringLiteral("train");
const std::string kTrainStage = "train"; ///< of progress reports during the steps

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

QString checkpointOf(const QString& file)
{
    const QFileInfo info(file);
    return info.dir().filePath(info.completeBaseName() + QStringLiteral(".partial.npz"));
}

ModelTrainer::ModelTrainer(Workspace& workspace)
    : QObject(&workspace)
    , m_workspace(workspace)
    , m_hashes(std::make_shared<ContentHashes>())
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
        if (!std::exchange(m_isWaiting, false))
            return;
        end();
        undoGoingBack();
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
    const bool isPlanned = document.plan() && !document.isStale(Stage::Plan);
    const bool isCalibrated = document.calibration() && !document.isStale(Stage::Calibrate);
    return isPlanned && (isCalibrated || m_choices.fromScratch);
}

void ModelTrainer::start(const TrainingChoices& choices)
{
    if (m_isRunning || !canStart())
        return;
    m_choices = choices;
    m_training = {};
    m_result.clear();
    m_hasFailed = m_isDropped = false;
    m_wentBackTo = -1;
    if (choices.resumes && !goBack())
        return;
    m_isRunning = true;
    m_fraction = 0;
    m_step = 0;
    m_workspace.document().refreshKeys();
    if (isReady()) {
        begin();
        return;
    }
    m_isWaiting = true;
    m_phase = choices.fromScratch ? tr("planning first") : tr("calibrating first");
    Q_EMIT changed();
    m_workspace.pipeline().runUpTo(firstStage());
}

/// The stage whose result a training starts from.
Stage ModelTrainer::firstStage() const
{
    return m_choices.fromScratch ? Stage::Plan : Stage::Calibrate;
}

/// Undoes the decision of a stopped training that is to be resumed: it started without it. False if
/// it is not the newest one.
bool ModelTrainer::goBack()
{
    const auto isOfFile = [this](const Recipe& recipe) {
        const Cure* cure = trainingOf(recipe);
        return cure && cure->file == m_choices.file.toStdString();
    };
    if (!isOfFile(m_workspace.document().recipe()))
        return true;
    QUndoStack& stack = m_workspace.undoStack();
    const auto* newest = dynamic_cast<const RecipeCommand*>(stack.command(stack.index() - 1));
    if (!newest || isOfFile(newest->before())) {
        endWith(makeError(ErrorCode::Usage,
                          tr("the recipe changed after the training stopped").toStdString())
                    .withHint(tr("undo these changes, then resume").toStdString()));
        return false;
    }
    stack.undo();
    m_wentBackTo = stack.index();
    return true;
}

/// Brings the decision of the stopped training back, unless other decisions were taken since.
void ModelTrainer::undoGoingBack()
{
    QUndoStack& stack = m_workspace.undoStack();
    if (std::exchange(m_wentBackTo, -1) == stack.index() && stack.canRedo())
        stack.redo();
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
        pipeline.runUpTo(firstStage()); // another run had precedence
    }
}

TrainRequest ModelTrainer::request() const
{
    const Document& document = m_workspace.document();
    TrainRequest request;
    request.file = document.edited()->file;
    if (m_choices.fromScratch) {
        request.model = document.model();
        request.plan = document.plan();
    } else {
        request.start = document.calibration();
        request.model = request.start->prepared->model;
        request.plan = request.start->prepared->plan;
    }
    request.recipe = document.recipe();
    request.settings = document.settings();
    request.training = m_choices.training;
    request.checkpoint = checkpointOf(m_choices.file).toStdString();
    request.resumes = m_choices.resumes;
    request.isDiscarded = m_isDiscarded;
    return request;
}

void ModelTrainer::begin()
{
    m_isDiscarded = std::make_shared<std::atomic<bool>>(false);
    m_phase = tr("preparing");
    m_clock.invalidate();
    m_seen = std::make_shared<Seen>();
    Pipeline& pipeline = m_workspace.pipeline();
    pipeline.jobs().run(
        Lane::Engine, kTrainTag,
        [engine = &pipeline.engine(), request = request(), path = m_choices.file.toStdString(),
         seen = m_seen, hashes = m_hashes](JobContext& job) mutable -> Result<SavedTraining> {
            QS_TRY(request.dataHash,
                   hashes->of(request.settings.calibrationData, request.file->info().sha256, job));
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
    *m_isDiscarded = true;
    m_workspace.pipeline().jobs().cancel(kTrainTag);
}

void ModelTrainer::discard()
{
    drop();
    if (!m_isDropped)
        return;
    m_result = tr("Discarded: it can be resumed.");
    undoGoingBack();
}

void ModelTrainer::waitForEnd()
{
    QEventLoop loop;
    connect(this, &ModelTrainer::changed, &loop, [this, &loop] {
        if (!m_isRunning)
            loop.quit();
    });
    if (m_isRunning)
        loop.exec(QEventLoop::ExcludeUserInputEvents);
}

void ModelTrainer::showProgress(const Progress& progress)
{
    if (progress.stage == kTrainStage && progress.fraction > 0) {
        m_phase.clear();
        m_fraction = progress.fraction;
        m_step = int(std::lround(progress.fraction * m_choices.training.steps));
        if (!m_clock.isValid()) {
            m_clock.start();
            m_firstStep = m_step;
        }
    } else if (progress.stage != kTrainStage && m_clock.isValid()) {
        m_phase = tr("saving the model");
    }
    if (!m_isDropped)
        m_training = m_seen->get();
    Q_EMIT changed();
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
            undoGoingBack();
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
    else if (m_training.steps == m_choices.training.steps)
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
    undoGoingBack();
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

} // namespace qs
