// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/values/value_inspections.h"

#include "engine/pipeline/keys/content_keys.h"
#include "ui/session/coalesce.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"

namespace qs {

namespace {

bool runsStage(const Pipeline& pipeline)
{
    for (int stage = 0; stage < kStageCount; ++stage)
        if (pipeline.status(Stage(stage)).state == StageStatus::State::Running)
            return true;
    return false;
}

QString failureText(const Error& error)
{
    return error.code == ErrorCode::Cancelled
        ? QObject::tr("Cancelled; select the node again to look at it")
        : toQString(error.line());
}

CompareRequest requestOf(const Document& document)
{
    return {document.calibration(), document.converted(), document.recipe(), document.settings(),
            document.edited()};
}

} // namespace

ValueInspections::ValueInspections(Workspace& workspace, const QString& owner, Wanted wanted,
                                   QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
    , m_inspectionTag(QStringLiteral("look ") + owner)
    , m_sampleTag(QStringLiteral("sampleValues ") + owner)
    , m_wantsValues(wanted == Wanted::InspectionAndSample)
{
    connect(&workspace, &QObject::destroyed, this, [this] { m_isOver = true; });
    const auto later = coalesced(this, [this] { update(); });
    auto& document = workspace.document();
    connect(&document, &Document::modelChanged, this, [this, later] {
        drop();
        m_target.reset();
        m_sample = 0;
        later();
    });
    connect(&document, &Document::resultsChanged, this, later);
    connect(&document, &Document::recipeChanged, this, later);
    connect(&document, &Document::settingsChanged, this, later);
    connect(&workspace.pipeline(), &Pipeline::statusChanged, this, later);
    connect(&workspace.pipeline().jobs(), &JobRunner::progressed, this,
            [this](const QString& tag, const Progress& progress) {
                if (tag != m_inspectionTag)
                    return;
                m_fraction = progress.fraction;
                Q_EMIT changed();
            });
}

void ValueInspections::setWatched(bool watched)
{
    if (m_watched == watched || m_isOver)
        return;
    m_watched = watched;
    if (!watched)
        cancel();
    update();
}

void ValueInspections::setTarget(const std::optional<InspectionTarget>& target)
{
    if (target == m_target)
        return;
    cancel();
    drop();
    m_target = target;
    m_part = {};
    update();
}

void ValueInspections::setSample(std::int64_t sample)
{
    if (sample == m_sample)
        return;
    m_sample = sample;
    update();
}

void ValueInspections::setPart(std::size_t result, std::int64_t plane)
{
    const bool isHere = m_values && m_values->result == result && plane >= m_values->firstPlane
        && plane < m_values->firstPlane + m_values->planes;
    if (m_part.result == result && (m_part.plane == plane || isHere))
        return;
    m_part.result = result;
    m_part.plane = plane;
    update();
}

Key ValueInspections::keyNow() const
{
    const Document& document = m_workspace.document();
    const bool isCurrent = document.calibration() && document.converted()
        && !document.isStale(Stage::Calibrate) && !document.isStale(Stage::Convert);
    return isCurrent ? document.keys().comparison : Key();
}

Key ValueInspections::valuesKey(const Key& decisions) const
{
    return KeyBuilder("shownValues")
        .add(decisions)
        .add(m_sample)
        .add(std::int64_t(m_part.result))
        .add(m_part.plane)
        .key();
}

bool ValueInspections::isStale() const
{
    const Key& now = m_workspace.document().keys().comparison;
    return (m_inspection && m_inspectionKey != now) || (m_values && m_valuesDecisions != now);
}

bool ValueInspections::isAgainstOriginal() const
{
    const Document& document = m_workspace.document();
    return document.model() && measuresOriginal(document.settings(), *document.model());
}

bool ValueInspections::isRunning() const
{
    const auto& jobs = m_workspace.pipeline().jobs();
    return jobs.isRunning(m_inspectionTag) || jobs.isRunning(m_sampleTag);
}

QString ValueInspections::note() const
{
    const Document& document = m_workspace.document();
    if (!document.model())
        return {};
    if (!m_target)
        return tr("Select a node to look at its values");
    if (!m_failure.isEmpty())
        return m_failure;
    if (isRunning())
        return m_fraction > 0 ? tr("Looking… %1 %").arg(int(m_fraction * 100)) : tr("Looking…");
    if (isStale())
        return tr("of older decisions; convert to look again");
    return m_inspection && (m_values || !m_wantsValues) ? QString()
                                                        : tr("Convert to look at a node's values");
}

void ValueInspections::update()
{
    const Key now = keyNow();
    if (now.empty() && isRunning())
        cancel(); // it is of older decisions and blocks the engine
    if (m_watched && m_target && !now.empty()) {
        if (runsStage(m_workspace.pipeline())) {
            cancel(); // requested again after the stage
        } else {
            const Key values = valuesKey(now);
            if (m_wantsValues && m_valuesKey != values && m_askedValues != values)
                askValues(now, values);
            if (m_inspectionKey != now && m_askedInspection != now)
                askInspection(now);
        }
    }
    Q_EMIT changed();
}

void ValueInspections::askValues(const Key& decisions, const Key& key)
{
    auto& jobs = m_workspace.pipeline().jobs();
    m_askedValues = key;
    m_failure.clear();
    if (jobs.isRunning(m_inspectionTag)) { // a sample has priority over the inspection
        jobs.cancel(m_inspectionTag);
        m_askedInspection.clear();
    }
    SampleWanted wanted {*m_target, m_sample, m_part, {}};
    if (m_inspection && m_inspectionKey == decisions)
        wanted.batchSamples = m_inspection->batchSamples;
    auto& engine = m_workspace.pipeline().engine();
    jobs.run(
        Lane::Engine, m_sampleTag,
        [&engine, request = requestOf(m_workspace.document()), wanted](JobContext& job) {
            return engine.sampleValues(request, wanted, job);
        },
        this,
        [this, decisions, key](Result<SampleValuesPtr> found) {
            if (m_askedValues != key)
                return; // a newer request replaced it
            if (found) {
                m_values = std::move(*found);
                m_valuesKey = key;
                m_valuesDecisions = decisions;
            } else {
                m_failure = failureText(found.error());
                m_values.reset();
            }
            Q_EMIT changed();
        });
}

void ValueInspections::askInspection(const Key& key)
{
    m_askedInspection = key;
    m_fraction = 0;
    auto& engine = m_workspace.pipeline().engine();
    m_workspace.pipeline().jobs().run(
        Lane::Engine, m_inspectionTag,
        [&engine, request = requestOf(m_workspace.document()),
         target = *m_target](JobContext& job) { return engine.inspect(request, target, job); },
        this,
        [this, key](Result<ValueInspectionPtr> found) {
            if (m_askedInspection != key)
                return;
            m_fraction = 0;
            if (found) {
                m_inspection = std::move(*found);
                m_inspectionKey = key;
            } else {
                m_failure = failureText(found.error());
            }
            Q_EMIT changed();
        });
}

void ValueInspections::drop()
{
    m_inspection.reset();
    m_values.reset();
    m_inspectionKey.clear();
    m_valuesKey.clear();
    m_valuesDecisions.clear();
    m_failure.clear();
}

void ValueInspections::cancel()
{
    auto& jobs = m_workspace.pipeline().jobs();
    jobs.cancel(m_inspectionTag);
    jobs.cancel(m_sampleTag);
    m_askedInspection.clear();
    m_askedValues.clear();
}

} // namespace qs
