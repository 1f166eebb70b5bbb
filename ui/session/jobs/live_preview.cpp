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
const QString kPreviewBeforeTag = QStringLiteral("previewBefore");

/// True for the stages that a decision makes stale.
bool isOfDecisions(Stage stage)
{
    return stage >= Stage::Plan && stage <= Stage::Compare;
}

/// True if both previews use the same samples and ranges from the same data.
bool isComparable(const PreviewPtr& preview, const PreviewPtr& before)
{
    return preview && before && preview->samplesKey == before->samplesKey;
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
        m_compared.reset();
        m_estimatedBefore.reset();
        m_estimatedOf.reset();
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
        // A stage that failed, or that the user cancelled, is not repeated automatically.
        if (isOfDecisions(stage) && !std::exchange(m_stopping, false))
            m_refused = m_following ? m_followed : m_workspace.document().keys().comparison;
    });
    connect(&workspace.pipeline(), &Pipeline::succeeded, this, [this](Stage stage) {
        if (stage == Stage::Calibrate)
            m_answered = {}; // a preview may be possible now
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

/// Cancels the comparison of earlier decisions.
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
        // Cancelled by the user between two stages: not repeated automatically.
        if (!isCompared && !m_stopping)
            m_refused = m_followed;
        m_following = m_stopping = false;
        Q_EMIT followingChanged();
    }
    // The engine is busy while a stage runs. The preview is requested after it.
    if (!m_ready || !document.plan() || document.isStale(Stage::Plan) || document.isGraphStale()
        || pipeline.isRunning())
        return;
    if (m_answered != document.keys().comparison) {
        ask();
    } else if (isCompared) {
        m_before = document.preview();
        m_compared = {document.model(), document.recipe(), document.settings()};
    } else if (m_comparesAfterEach) {
        compareAll();
    }
}

PreviewPtr LivePreview::before() const
{
    const PreviewPtr preview = m_workspace.document().preview();
    if (!preview || preview->estimated.empty())
        return m_before;
    return preview == m_estimatedOf ? m_estimatedBefore : nullptr;
}

std::optional<double> LivePreview::gain() const
{
    const PreviewPtr preview = m_workspace.document().preview(), was = before();
    if (!isComparable(preview, was))
        return std::nullopt;
    const auto now = preview->outputDb(), then = was->outputDb();
    return now && then ? std::optional(*now - *then) : std::nullopt;
}

void LivePreview::askBefore(const PreviewPtr& preview)
{
    auto& pipeline = m_workspace.pipeline();
    m_estimatedBefore.reset();
    m_estimatedOf = preview;
    pipeline.jobs().cancel(kPreviewBeforeTag);
    if (!preview || preview->estimated.empty() || !m_compared)
        return;
    PreviewRequest request = *m_compared;
    request.estimated = preview->estimated;
    pipeline.jobs().run(
        Lane::Engine, kPreviewBeforeTag,
        [&engine = pipeline.engine(), request](JobContext& job) {
            return engine.preview(request, job);
        },
        this,
        [this, preview](Result<PreviewPtr> made) {
            if (!made || preview != m_estimatedOf)
                return;
            m_estimatedBefore = *made;
            Q_EMIT beforeChanged();
        });
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
            return engine.preview(request, job);
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
        return; // requested again when the stage that cancelled it ends
    m_answered = keys.comparison;
    m_problem = made ? QString() : toQString(made.error().line());
    askBefore(made ? *made : nullptr);
    document.setPreview(made ? *made : nullptr, keys); // its signal calls `follow`
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
    const PreviewRequest now {document.model(), document.recipe(), document.settings()};
    using Pair = std::pair<PreviewPtr, PreviewPtr>;
    pipeline.jobs().run(
        Lane::Engine, kRecipeTrialTag,
        [&engine = pipeline.engine(), request, now,
         known = document.preview()](JobContext& job) -> Result<Pair> {
            QS_TRY(const PreviewPtr made, engine.preview(request, job));
            if (known && known->estimated == made->estimated)
                return Pair {made, known};
            PreviewRequest same = now;
            same.estimated = made->estimated;
            const auto before = engine.preview(same, job);
            return Pair {made, before ? *before : nullptr};
        },
        this,
        [this, number = m_trialNumber](Result<Pair> made) {
            if (number != m_trialNumber)
                return; // a newer trial replaced it
            m_trial = made ? made->first : nullptr;
            m_trialBefore
                = made && isComparable(made->first, made->second) ? made->second : nullptr;
            Q_EMIT tried();
        });
}

void LivePreview::stopTrying()
{
    m_trial.reset();
    m_trialBefore.reset();
    ++m_trialNumber;
    m_workspace.pipeline().jobs().cancel(kRecipeTrialTag);
}

} // namespace qs
