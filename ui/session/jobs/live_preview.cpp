// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/jobs/live_preview.h"

#include "ui/session/coalesce.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"

#include <utility>

namespace qs {

namespace {

const QString kDecisionPreviewTag = QStringLiteral("decisionPreview");
const QString kRecipeTrialTag = QStringLiteral("recipeTrial");

/// Stages that follow from a decision.
bool isOfDecisions(Stage stage)
{
    return stage >= Stage::Plan && stage <= Stage::Compare;
}

} // namespace

LivePreview::LivePreview(Workspace& workspace)
    : QObject(&workspace)
    , m_workspace(workspace)
{
    const auto later = coalesced(this, [this] { follow(); });
    const Document* document = &workspace.document();
    connect(document, &Document::modelChanged, this, [this] {
        stopTrying();
        m_before.reset();
        m_ready = m_following = false;
        m_stopping = false;
        m_answered = m_asked = m_refused = m_followed = {};
        m_problem.clear();
    });
    connect(document, &Document::recipeChanged, this, &LivePreview::stopFollowing);
    connect(document, &Document::settingsChanged, this, &LivePreview::stopFollowing);
    connect(document, &Document::planChanged, this, later);
    connect(document, &Document::resultsChanged, this, later);
    connect(&workspace.pipeline(), &Pipeline::statusChanged, this, later);
    connect(document, &Document::graphEdited, this, [this] { m_answered = {}; }); // it is gone
    connect(&workspace.pipeline(), &Pipeline::failed, this, [this](Stage stage, const Error&) {
        // What failed, or was cancelled by the user, is not run again by itself.
        if (isOfDecisions(stage) && !std::exchange(m_stopping, false))
            m_refused = m_following ? m_followed : m_workspace.document().keys().comparison;
    });
    connect(&workspace.pipeline(), &Pipeline::succeeded, this, [this](Stage stage) {
        if (stage == Stage::Calibrate)
            m_answered = {}; // there may be one now
    });
}

void LivePreview::setComparesAfterEach(bool keeps)
{
    m_comparesAfterEach = keeps;
    if (!keeps)
        stopFollowing();
    m_refused = {};
    follow();
}

/// Another decision stands: what runs for the one before is of no use.
void LivePreview::stopFollowing()
{
    const auto running = m_workspace.pipeline().running();
    if (!m_following || (running && !isOfDecisions(*running)))
        return;
    m_stopping = running.has_value();
    m_workspace.pipeline().cancel();
}

void LivePreview::follow()
{
    const Document& document = m_workspace.document();
    const auto& pipeline = m_workspace.pipeline();
    const bool isCompared = document.comparison() && !document.isStale(Stage::Compare);
    m_ready = m_ready || isCompared;
    if (m_following && !pipeline.isRunning()) { // done, failed or stopped
        // Cancelled between two stages, of which none failed: not run again by itself either.
        if (!isCompared && !m_stopping)
            m_refused = m_followed;
        m_following = m_stopping = false;
        Q_EMIT followingChanged();
    }
    // A stage that runs has the engine; what it makes is asked for afterwards.
    if (!m_ready || !document.plan() || document.isStale(Stage::Plan) || document.isGraphStale()
        || pipeline.isRunning())
        return;
    if (m_answered != document.keys().comparison)
        ask();
    else if (isCompared)
        m_before = document.preview();
    else if (m_comparesAfterEach)
        compareAll();
}

void LivePreview::ask()
{
    const Document& document = m_workspace.document();
    auto& pipeline = m_workspace.pipeline();
    if (pipeline.jobs().isRunning(kDecisionPreviewTag) && m_asked == document.keys().comparison)
        return;
    m_asked = document.keys().comparison;
    const PreviewRequest request {document.model(), document.recipe(), document.settings()};
    pipeline.jobs().run(
        Lane::Engine, kDecisionPreviewTag,
        [&engine = pipeline.engine(), request](JobContext& job) {
            return engine.previewErrors(request, job);
        },
        this,
        [this, keys = document.keys()](Result<PreviewPtr> made) { answer(std::move(made), keys); });
}

void LivePreview::answer(Result<PreviewPtr> made, const DecisionKeys& keys)
{
    Document& document = m_workspace.document();
    if (keys.comparison != document.keys().comparison)
        return;
    m_asked = {};
    if (!made && made.error().code == ErrorCode::Cancelled)
        return; // asked again when what stopped it is over
    m_answered = keys.comparison;
    m_problem = made ? QString() : toQString(made.error().line());
    document.setPreview(made ? *made : nullptr, keys); // which lets `follow` go on
}

void LivePreview::compareAll()
{
    auto& pipeline = m_workspace.pipeline();
    const Key& now = m_workspace.document().keys().comparison;
    if (m_following || pipeline.isRunning() || m_refused == now)
        return;
    m_following = true;
    m_followed = now;
    pipeline.runUpTo(Stage::Compare);
    Q_EMIT followingChanged();
}

void LivePreview::tryRecipe(const Recipe& recipe)
{
    const Document& document = m_workspace.document();
    stopTrying();
    if (!m_ready || !document.model() || document.isGraphStale())
        return;
    auto& pipeline = m_workspace.pipeline();
    const PreviewRequest request {document.model(), recipe, document.settings()};
    pipeline.jobs().run(
        Lane::Engine, kRecipeTrialTag,
        [&engine = pipeline.engine(), request](JobContext& job) {
            return engine.previewErrors(request, job);
        },
        this,
        [this, number = m_trialNumber](Result<PreviewPtr> made) {
            if (number != m_trialNumber)
                return; // of another range by now
            m_trial = made ? *made : nullptr;
            Q_EMIT tried();
        });
}

void LivePreview::stopTrying()
{
    m_trial.reset();
    ++m_trialNumber;
    m_workspace.pipeline().jobs().cancel(kRecipeTrialTag);
}

} // namespace qs
