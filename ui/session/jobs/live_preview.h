// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/pipeline/keys/decision_keys.h"
#include "engine/pipeline/stages.h"
#endif
#include "engine/pipeline/engine_service.h"

#include <QObject>
#include <QString>

#include <optional>

namespace qs {

class Workspace;

/// Runs a preview (a few samples through the reference form) after each decision, once the model
/// was compared, and publishes it as `Document::preview`. If the user wants that, a comparison over
/// all data follows. A newer decision stops both. A recipe on trial (a dragged range) is previewed
/// likewise. GUI thread only.
class LivePreview : public QObject
{
    Q_OBJECT

public:
    explicit LivePreview(Workspace& workspace);

    /// The preview of the decisions of the comparison shown last: the baseline for
    /// `Document::preview`. It uses the same samples and takes the ranges of the same values from
    /// them. Null while unknown.
    PreviewPtr before() const;
    /// The recipe of `before`; null while unknown.
    const Recipe* comparedRecipe() const { return m_compared ? &m_compared->recipe : nullptr; }
    /// Gain of the document's preview at the worst output against `before`, in dB.
    std::optional<double> gain() const;

    /// Requests the errors of a recipe; the answer is signalled by `tried`. A newer request
    /// replaces it.
    void tryRecipe(const Recipe& recipe);
    /// Drops the request.
    void stopTrying();
    /// The answer to the last request; null while it runs, or without one.
    const PreviewPtr& trial() const { return m_trial; }
    /// The errors of the current decisions on the trial's samples, with its ranges. Null while it
    /// runs, or without a trial.
    const PreviewPtr& trialBefore() const { return m_trialBefore; }

    /// True if previews are available: the model was compared since it was opened.
    bool isReady() const { return m_ready; }
    void setComparesAfterEach(bool keeps);
    /// True while the comparison after a preview is scheduled or running.
    bool isFollowing() const { return m_following; }
    /// Why the preview of the current decisions failed; empty if it did not.
    const QString& problem() const { return m_problem; }

Q_SIGNALS:
    void tried();
    void followingChanged();
    /// `before` and `gain` became known.
    void beforeChanged();

private:
    void follow();
    void ask();
    void answer(Result<PreviewPtr> made, const DecisionKeys& keys);
    /// Requests the baseline for a preview whose ranges come partly from its own samples: the
    /// preview of the compared decisions on these samples.
    void askBefore(const PreviewPtr& preview);
    void compareAll();
    void stopFollowing();

    Workspace& m_workspace;
    std::optional<PreviewRequest> m_compared; ///< inputs of the comparison shown last
    PreviewPtr m_before; ///< of `m_compared`
    PreviewPtr m_estimatedBefore; ///< baseline for `m_estimatedOf`
    PreviewPtr m_estimatedOf;
    PreviewPtr m_trial, m_trialBefore;
    Key m_answered; ///< of the decisions that were answered last, by a preview or a problem
    Key m_asked; ///< of the decisions whose preview is being made
    Key m_refused; ///< of the decisions whose full comparison failed
    QString m_problem;
    bool m_ready = false;
    bool m_comparesAfterEach = false;
    Key m_followed; ///< of the decisions of the automatic full comparison
    int m_trialNumber = 0;
    bool m_following = false;
    bool m_stopping = false; ///< a newer decision stopped the running preview
};

} // namespace qs
