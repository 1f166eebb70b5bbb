// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/jobs/pipeline.h"

#include "engine/calibrate/convergence/calibration_watch.h"
#include "engine/extensions/load_pack.h"
#include "engine/pipeline/tune/search_summary.h"
#include "ui/session/text.h"

#include <QTimer>

#include <algorithm>
#include <utility>

namespace qs {

namespace {

const QString kRunTag = QStringLiteral("run");
const QString kPlanTag = QStringLiteral("plan");
const QString kAdoptTag = QStringLiteral("adopt");
const QString kRecallTag = QStringLiteral("recall");

/// The result of a stage, with the hierarchy derived from it.
struct OpenedModel
{
    EditedModelPtr edited;
    FoldTreePtr hierarchy;
};
struct PlannedModel
{
    EditedModelPtr edited; ///< null if the graph is unchanged
    PlanPtr plan;
    FoldTreePtr hierarchy;
};

} // namespace

Pipeline::Pipeline(EngineService& engine, Document& document, QObject* parent)
    : QObject(parent)
    , m_engine(engine)
    , m_document(document)
{
    connect(&m_document, &Document::recipeChanged, this, [this] { plan(); });
    connect(&m_document, &Document::resultsChanged, this, &Pipeline::statusChanged);
    connect(&m_document, &Document::settingsChanged, this, [this] { recall(); });
    connect(&m_jobs, &JobRunner::progressed, this,
            [this](const QString& tag, const Progress& progress) {
                if (tag != kRunTag)
                    return;
                m_fraction = progress.fraction;
                m_left = toQString(m_timeLeft.text(progress));
                Q_EMIT statusChanged();
            });
}

Pipeline::~Pipeline() = default;

void Pipeline::begin(Stage stage)
{
    m_running = int(stage);
    m_fraction = 0;
    m_timeLeft = {};
    m_left.clear();
    m_failed[std::size_t(stage)].reset();
    m_clock.start();
    Q_EMIT started(stage);
    Q_EMIT statusChanged();
}

bool Pipeline::settle(Stage stage, const Error* error)
{
    if (m_running == int(stage))
        m_running = -1;
    m_seconds[std::size_t(stage)] = double(m_clock.elapsed()) / 1000;
    if (!error) {
        Q_EMIT statusChanged();
        Q_EMIT succeeded(stage);
        return true;
    }
    m_target = -1;
    Q_EMIT statusChanged();
    Q_EMIT failed(stage, *error);
    return false;
}

template<class T, class Work, class Store>
void Pipeline::runStage(Stage stage, Work work, Store store)
{
    begin(stage);
    m_jobs.run(Lane::Engine, kRunTag, std::move(work), this,
               [this, stage, keys = m_document.keys(), store = std::move(store)](Result<T> result) {
                   if (!result) {
                       if (result.error().code != ErrorCode::Cancelled)
                           m_failed[std::size_t(stage)] = keys;
                       settle(stage, &result.error());
                       return;
                   }
                   m_running = -1;
                   store(std::move(*result));
                   if (!settle(stage, nullptr))
                       return;
                   if (m_target >= 0)
                       runNext();
                   else
                       recall();
               });
}

void Pipeline::open(const QString& path, const Recipe& given)
{
    const Recipe recipe = withLoadedPacks(given);
    m_target = -1;
    m_opening = path;
    // The hierarchy of a large model takes a while: it comes with the model, from the same thread.
    runStage<OpenedModel>(
        Stage::Open,
        [engine = &m_engine, recipe,
         file = path.toStdString()](JobContext& job) -> Result<OpenedModel> {
            QS_TRY(GraphPtr model, engine->open(file, job));
            QS_TRY(EditedModelPtr edited, engine->edited(model, recipe, job));
            FoldTreePtr hierarchy = hierarchyOf(*edited->graph, nullptr, recipe);
            return OpenedModel {std::move(edited), std::move(hierarchy)};
        },
        [this, recipe, made = GraphMaking::of(recipe)](OpenedModel opened) {
            m_everCalibrated = false;
            m_failed.fill(std::nullopt);
            m_document.setModel(opened.edited->file, recipe, std::move(opened.hierarchy),
                                opened.edited, made);
        });
}

void Pipeline::plan()
{
    if (!m_document.model())
        return;
    auto* engine = &m_engine;
    const GraphPtr model = m_document.model();
    const GraphPtr file = m_document.isGraphStale() ? m_document.edited()->file : nullptr;
    const Recipe recipe = m_document.recipe();
    m_jobs.run(
        Lane::Pool, kPlanTag,
        [engine, model, file, recipe,
         before = m_document.hierarchy()](JobContext& job) -> Result<PlannedModel> {
            PlannedModel made;
            if (file) {
                QS_TRY(made.edited, engine->edited(file, recipe, job));
            }
            const GraphPtr& graph = made.edited ? made.edited->graph : model;
            QS_TRY(made.plan, engine->plan(graph, recipe, job));
            made.hierarchy = hierarchyOf(*graph, made.plan.get(), recipe, before);
            return made;
        },
        this,
        [this, model, making = GraphMaking::of(recipe),
         keys = m_document.keys()](Result<PlannedModel> result) {
            if (model != m_document.model()) {
                plan(); // a run refined the model meanwhile
                return;
            }
            m_failed[std::size_t(Stage::Plan)].reset();
            if (!result) {
                m_failed[std::size_t(Stage::Plan)] = keys;
                m_target = -1;
                Q_EMIT failed(Stage::Plan, result.error());
                Q_EMIT statusChanged();
                return;
            }
            if (result->edited)
                m_document.setEdited(std::move(result->edited), std::move(result->plan), keys,
                                     making, std::move(result->hierarchy));
            else
                m_document.setPlan(std::move(result->plan), keys, std::move(result->hierarchy));
            Q_EMIT statusChanged();
            Q_EMIT succeeded(Stage::Plan);
            if (m_target >= 0)
                runNext();
            else
                recall();
        });
    Q_EMIT statusChanged();
}

bool Pipeline::isCurrent(Stage stage) const
{
    return m_document.hasResult(stage) && !m_document.isStale(stage);
}

void Pipeline::recall()
{
    const auto& doc = m_document;
    if (!doc.model() || m_running >= 0 || !isCurrent(Stage::Plan) || !m_everCalibrated
        || (isCurrent(Stage::Calibrate) && isCurrent(Stage::Convert) && isCurrent(Stage::Compare)))
        return;
    CalibrateRequest request {doc.model(), doc.plan(), doc.recipe(), doc.settings()};
    m_jobs.run(
        Lane::Engine, kRecallTag,
        [engine = &m_engine, request](JobContext& job) { return engine->recall(request, job); },
        this, [this, keys = doc.keys()](const Recalled& found) { take(found, keys); });
}

void Pipeline::take(const Recalled& found, const DecisionKeys& keys)
{
    // If decisions changed or a stage runs, a later recall fetches the results.
    if (keys.comparison != m_document.keys().comparison || m_running >= 0)
        return;
    if (found.calibration && !isCurrent(Stage::Calibrate))
        m_document.setCalibration(found.calibration, keys);
    if (found.converted && !isCurrent(Stage::Convert))
        m_document.setConverted(found.converted, keys);
    if (found.comparison && !isCurrent(Stage::Compare))
        m_document.setComparison(found.comparison, keys);
    if (found.diagnosis && (!m_document.diagnosis() || m_document.isDiagnosisStale()))
        m_document.setDiagnosis(found.diagnosis, keys);
}

void Pipeline::runUpTo(Stage target)
{
    if (!m_document.model() || m_running >= 0)
        return;
    m_document.refreshKeys();
    m_target = int(target);
    runNext();
}

CompareRequest Pipeline::compareRequest() const
{
    return {m_document.calibration(), m_document.converted(), m_document.recipe(),
            m_document.settings(), m_document.edited()};
}

void Pipeline::adopt(const StoredRun& stored)
{
    const auto& doc = m_document;
    CalibrateRequest request {doc.model(), doc.plan(), doc.recipe(), doc.settings()};
    m_jobs.run(
        Lane::Engine, kAdoptTag,
        [engine = &m_engine, request, stored](JobContext& job) {
            auto why = engine->adopt(request, stored, job);
            const bool isAdopted = why && why->empty();
            return std::pair(std::move(why), isAdopted ? engine->recall(request, job) : Recalled());
        },
        this,
        [this, keys = doc.keys(), evaluation = evaluationIn(stored.document.json()),
         search
         = searchIn(stored.document)](const std::pair<Result<std::string>, Recalled>& adopted) {
            const auto& [why, found] = adopted;
            if (!why || !why->empty())
                return Q_EMIT notAdopted(toQString(why ? *why : why.error().line()));
            if (m_running >= 0 || m_target >= 0)
                return;
            m_everCalibrated = true;
            if (evaluation)
                m_document.setEvaluation(*evaluation, keys);
            if (search && m_document.keys().comparison == keys.comparison)
                m_document.setSearchSummary(search);
            take(found, keys); // the results are shown while the model is converted
            runUpTo(Stage::Convert);
        });
}

void Pipeline::cancel()
{
    m_target = -1;
    m_jobs.cancel(kRunTag);
    Q_EMIT cancelled();
}

void Pipeline::runNext()
{
    if (m_target < 0 || m_running >= 0)
        return;
    // Decisions may have changed while a stage ran: plan again before the next stage.
    if (!isCurrent(Stage::Plan)) {
        if (!m_jobs.isRunning(kPlanTag))
            plan();
        return;
    }
    if (m_target == int(Stage::Plan)) {
        m_target = -1;
        return;
    }
    for (int stage = int(Stage::Calibrate); stage < m_target; ++stage) {
        // An export needs no comparison, only a converted model.
        if (!isCurrent(Stage(stage)) && !(Stage(stage) == Stage::Compare)) {
            startStage(Stage(stage));
            return;
        }
    }
    startStage(Stage(std::exchange(m_target, -1)));
}

void Pipeline::startStage(Stage stage)
{
    auto* engine = &m_engine;
    const auto& doc = m_document;
    const DecisionKeys keys = doc.keys();
    // If the graph was edited meanwhile, only the engine's cache keeps the result.
    const auto isOfGraph = [this, edits = doc.model()->info().edits] {
        return m_document.model() && m_document.model()->info().edits == edits;
    };
    switch (stage) {
    case Stage::Calibrate: {
        m_watch = std::make_shared<CalibrationWatch>();
        CalibrateRequest request {doc.model(), doc.plan(), doc.recipe(), doc.settings(), m_watch};
        runStage<CalibrationPtr>(
            stage, [engine, request](JobContext& job) { return engine->calibrate(request, job); },
            [this, keys, isOfGraph, asked = doc.recipe()](CalibrationPtr v) {
                m_everCalibrated = true;
                if (!isOfGraph())
                    return;
                if (!v->notFinite.empty())
                    return Q_EMIT decided(v, asked);
                if (const auto& seen = *v->prepared; seen.model != m_document.model())
                    m_document.refineModel(seen.model, seen.plan, keys);
                m_document.setCalibration(std::move(v), keys);
                if (m_document.isStale(Stage::Plan))
                    plan();
            });
        break;
    }
    case Stage::Convert: {
        ConvertRequest request {doc.calibration(), doc.recipe(), doc.settings()};
        runStage<ConvertedPtr>(
            stage, [engine, request](JobContext& job) { return engine->convert(request, job); },
            [this, keys, isOfGraph](ConvertedPtr v) {
                if (isOfGraph())
                    m_document.setConverted(std::move(v), keys);
            });
        break;
    }
    case Stage::Compare: {
        runStage<ComparisonPtr>(
            stage,
            [engine, request = compareRequest()](JobContext& job) {
                return engine->compare(request, job);
            },
            [this, keys, isOfGraph](ComparisonPtr v) {
                if (isOfGraph())
                    m_document.setComparison(std::move(v), keys);
            });
        break;
    }
    case Stage::Export: {
        ExportRequest request = exportRequest();
        request.forms = m_export.forms;
        request.formsChosen = m_export.formsChosen;
        request.folder = m_export.folder.toStdString();
        runStage<ExportReport>(
            stage, [engine, request](JobContext& job) { return engine->exportTo(request, job); },
            [this, keys](ExportReport v) { m_document.setExported(std::move(v), keys); });
        break;
    }
    default:
        break;
    }
}

} // namespace qs
