// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/cure/cure_search.h"

#include "engine/pipeline/tune/search_summary.h"
#include "ui/session/cure/search_work.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"

#include <QFileInfo>
#include <QStandardPaths>

#include <algorithm>
#include <utility>

namespace qs {

namespace {

const QString kSearchTag = QStringLiteral("cureSearch");

/// Drops a hint that names options of the command line.
Error withoutOptions(Error error)
{
    if (error.hint.find("--") != std::string::npos)
        error.hint.clear();
    return error;
}

/// Whether a search would measure the same under both.
bool measuresSame(const RunSettings& a, const RunSettings& b)
{
    return a.calibrationData == b.calibrationData && a.compared() == b.compared()
        && a.device == b.device;
}

/// NAME.cures beside the model, or in the user's folder if the model's cannot be written to.
std::filesystem::path folderOfNumbers(const std::filesystem::path& model)
{
    const QFileInfo beside(toQString(model.parent_path().string()));
    std::filesystem::path folder = model.parent_path();
    if (!beside.isWritable())
        folder = QStandardPaths::writableLocation(QStandardPaths::AppDataLocation).toStdString();
    return std::filesystem::absolute(folder) / model.filename().replace_extension(".cures");
}

} // namespace

CureSearch::CureSearch(Workspace& workspace)
    : QObject(&workspace)
    , m_workspace(workspace)
{
    const Document* document = &workspace.document();
    connect(document, &Document::modelChanged, this, &CureSearch::drop);
    connect(document, &Document::settingsChanged, this, [this] {
        if (m_phase != Phase::Idle
            && !measuresSame(m_request.settings, m_workspace.document().settings()))
            drop();
    });
    connect(document, &Document::recipeChanged, this, &CureSearch::changed);
    Pipeline& pipeline = workspace.pipeline();
    connect(&pipeline, &Pipeline::cancelled, this, &CureSearch::pause);
    connect(&pipeline.jobs(), &JobRunner::progressed, this,
            [this](const QString& tag, const Progress& progress) {
                if (tag != kSearchTag || !isRunning())
                    return;
                const QString before = std::exchange(m_progress, toQString(progress.what));
                if (showNewest() || m_progress != before)
                    Q_EMIT changed();
            });
}

CureSearch::~CureSearch() = default;

bool CureSearch::canStart() const
{
    const Document& document = m_workspace.document();
    return document.model() && document.plan() && document.edited()
        && !document.settings().calibrationData.empty()
        && (m_choices.goal.kind != TuneGoal::Kind::Metric
            || !m_workspace.metric().command().isEmpty());
}

const Trial* CureSearch::best() const
{
    return m_state.trials.empty() ? nullptr : &m_state.trials[m_state.best];
}

void CureSearch::start()
{
    if (isRunning() || !canStart())
        return;
    const Document& document = m_workspace.document();
    m_request = {};
    m_request.file = document.edited()->file;
    m_request.recipe = document.recipe();
    m_request.settings = document.settings();
    m_request.goal = m_choices.goal;
    m_request.keepInt8 = m_choices.keepInt8;
    m_request.seconds = m_choices.seconds;
    m_folder = SearchFolder(*m_request.file, m_request.recipe);
    m_request.numbers = m_folder.numbers();
    if (m_choices.trains) {
        for (const std::string& name : cureKindNames())
            m_request.allowed.insert(*cureKindFromName(name));
        m_request.trainedFile = m_folder.trainedModel();
    }
    m_command = m_request.goal.kind == TuneGoal::Kind::Metric
        ? m_workspace.metric().command().toStdString()
        : std::string();
    m_kept = folderOfNumbers(m_request.file->info().path);
    m_workspace.document().setSearchBeside(m_folder.recipe());
    m_state = {};
    m_spent = 0;
    m_startIndex = m_workspace.undoStack().index();
    m_takenIndex = -1;
    run();
}

void CureSearch::resume()
{
    if (m_phase == Phase::Paused)
        run();
}

void CureSearch::run()
{
    m_phase = Phase::Running;
    m_problem.clear();
    m_progress = m_state.trials.empty() ? tr("reading the data") : tr("continuing");
    m_seen = std::make_shared<SearchSeen>();
    m_started = std::chrono::steady_clock::now();
    TuneRequest request = m_request;
    if (request.seconds)
        request.seconds = std::max(0.0, *request.seconds - m_spent);
    JobRunner& jobs = m_workspace.pipeline().jobs();
    jobs.run(
        Lane::Engine, kSearchTag,
        [work = SearchWork {&m_workspace.pipeline().engine(), &jobs, std::move(request), m_command,
                            m_known, m_knownMetric, searchPath(m_folder.recipe()),
                            m_seen}](JobContext& job) mutable { return work.run(job); },
        this, [this](Result<TuneState> made) { finish(std::move(made)); });
    Q_EMIT changed();
}

bool CureSearch::showNewest()
{
    m_seen->fill(m_request);
    auto newest = m_seen->take();
    if (!newest)
        return false;
    learn(*newest);
    // A resumed search repeats its earlier states first.
    if (newest->trials.size() >= m_state.trials.size())
        m_state = std::move(*newest);
    return true;
}

/// Keeps the trials for later searches with the same metric.
void CureSearch::learn(const TuneState& state)
{
    if (std::exchange(m_knownMetric, m_request.metricText) != m_request.metricText)
        m_known.clear();
    for (const Trial& trial : state.trials)
        m_known[trial.key] = trial;
}

void CureSearch::finish(Result<TuneState> made)
{
    if (!isRunning())
        return; // stopped or dropped meanwhile
    showNewest();
    m_spent += std::chrono::duration<double>(std::chrono::steady_clock::now() - m_started).count();
    if (made) {
        learn(*made);
        m_state = std::move(*made);
        end(Phase::Ended);
    } else if (m_seen->hasYielded) {
        run();
    } else if (made.error().code == ErrorCode::Cancelled) {
        end(Phase::Paused);
    } else {
        m_problem = toQString(withoutOptions(std::move(made).error()).line());
        end(Phase::Ended);
    }
}

void CureSearch::end(Phase phase)
{
    m_phase = phase;
    m_progress.clear();
    Q_EMIT changed();
}

void CureSearch::pause()
{
    if (!isRunning())
        return;
    showNewest();
    m_spent += std::chrono::duration<double>(std::chrono::steady_clock::now() - m_started).count();
    m_workspace.pipeline().jobs().cancel(kSearchTag);
    end(Phase::Paused);
}

void CureSearch::stop()
{
    pause();
    if (m_phase == Phase::Paused)
        end(Phase::Ended);
}

void CureSearch::drop()
{
    m_workspace.pipeline().jobs().cancel(kSearchTag);
    m_request = {};
    m_state = {};
    m_known.clear();
    m_problem.clear();
    m_takenIndex = -1;
    end(Phase::Idle);
}

Recipe CureSearch::recipeOf(std::size_t trial) const
{
    Recipe recipe = takenRecipe(m_request, m_state, trial);
    for (Cure& cure : recipe.cures)
        if (m_folder.holds(cure.file))
            cure.file = keptFile(cure).string();
    return recipe;
}

std::filesystem::path CureSearch::keptFile(const Cure& cure) const
{
    return m_kept
        / (cure.kind == CureKind::Train ? cure.sha256.substr(0, 16) + ".trained.pt2"
                                        : std::filesystem::path(cure.file).filename().string());
}

bool CureSearch::keepNumbers(std::size_t trial)
{
    for (const Cure& cure : m_state.trials.at(trial).cures) {
        if (!m_folder.holds(cure.file))
            continue;
        std::error_code code;
        std::filesystem::create_directories(m_kept, code);
        std::filesystem::copy_file(cure.file, keptFile(cure),
                                   std::filesystem::copy_options::overwrite_existing, code);
        if (!code)
            continue;
        m_problem = tr("%1: the files of the cures cannot be written there: %2")
                        .arg(toQString(m_kept.string()), toQString(code.message()));
        Q_EMIT changed();
        return false;
    }
    return true;
}

void CureSearch::take(std::size_t trial)
{
    if (trial >= m_state.trials.size() || taken() == trial || !keepNumbers(trial))
        return;
    const int changes = changesSince();
    const QString figure = trialFigure(m_state.trials[trial], m_request.goal);
    m_workspace.change(trial == 0 ? tr("recipe of the search's start: %1").arg(figure)
                                  : tr("take trial %1: %2").arg(trial + 1).arg(figure),
                       recipeOf(trial));
    m_takenIndex = m_workspace.undoStack().index();
    if (changes > 0)
        Q_EMIT tookOver(changes);
    Q_EMIT changed();
}

std::optional<std::size_t> CureSearch::taken() const
{
    for (std::size_t i = 0; i < m_state.trials.size(); ++i)
        if (m_workspace.document().recipe() == recipeOf(i))
            return i;
    return std::nullopt;
}

QString trialFigure(const Trial& trial, const TuneGoal& goal)
{
    const TrialFigures& guard = trial.guard;
    if (goal.kind == TuneGoal::Kind::Metric && guard.metric)
        return QObject::tr("metric %1").arg(metricText(*guard.metric));
    if (goal.kind == TuneGoal::Kind::Top1Drop && guard.top1Drop)
        return QObject::tr("drop of %1 points").arg(*guard.top1Drop, 0, 'f', 2);
    return shownSqnr(guard.db);
}

QString goalWords(const TuneGoal& goal)
{
    return goal.kind == TuneGoal::Kind::Sqnr ? shownSqnr(goal.value) : toQString(goalText(goal));
}

int CureSearch::changesSince() const
{
    if (m_phase == Phase::Idle || m_workspace.document().recipe() == m_request.recipe || taken())
        return 0;
    const int now = m_workspace.undoStack().index();
    const int from = m_takenIndex >= 0 && m_takenIndex <= now ? m_takenIndex : m_startIndex;
    return std::max(1, std::abs(now - from));
}

} // namespace qs
