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

/// Once the model was compared, each decision is answered at once by a preview: a few samples
/// through the reference form. It is the document's (`Document::preview`). Where the user wants
/// that, the comparison over all data follows it by itself, and a newer decision stops both. A
/// recipe that is only tried (a range that is dragged) is answered the same way. GUI thread only.
class LivePreview : public QObject
{
    Q_OBJECT

public:
    explicit LivePreview(Workspace& workspace);

    /// The preview of the decisions that the comparison shown last was made from, to compare the
    /// document's with: of the same samples, with the ranges of the same values taken from them.
    /// Null while it is not known.
    PreviewPtr before() const;
    /// Gain of the document's preview at the worst output against `before`, in dB.
    std::optional<double> gain() const;

    /// Requests the errors of a recipe; the answer is signalled by `tried`. A newer request
    /// replaces it.
    void tryRecipe(const Recipe& recipe);
    /// Drops the request: its answer is no longer needed.
    void stopTrying();
    /// The answer to the last request; null while it runs, or without one.
    const PreviewPtr& trial() const { return m_trial; }
    /// The errors of the current decisions on the trial's samples, with its ranges; null
    /// likewise.
    const PreviewPtr& trialBefore() const { return m_trialBefore; }

    /// Whether previews can be had: the model was compared since it was opened.
    bool isReady() const { return m_ready; }
    void setComparesAfterEach(bool keeps);
    /// The comparison that follows a preview is on its way.
    bool isFollowing() const { return m_following; }
    /// Why the current decisions have no preview; empty if they have one, or none was tried.
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
    /// Requests the preview of the compared decisions on the samples of a preview whose ranges come
    /// partly from these samples.
    void askBefore(const PreviewPtr& preview);
    void compareAll();
    void stopFollowing();

    Workspace& m_workspace;
    std::optional<PreviewRequest> m_compared; ///< that the comparison shown last was made from
    PreviewPtr m_before; ///< of `m_compared`
    PreviewPtr m_estimatedBefore; ///< the same, comparable to `m_estimatedOf`
    PreviewPtr m_estimatedOf;
    PreviewPtr m_trial, m_trialBefore;
    Key m_answered; ///< of the decisions that were answered last, by a preview or a problem
    Key m_asked; ///< of the decisions whose preview is being made
    Key m_refused; ///< of the decisions that the comparison over all data failed for
    QString m_problem;
    bool m_ready = false;
    bool m_comparesAfterEach = false;
    Key m_followed; ///< of the decisions that are compared over all data by themselves
    int m_trialNumber = 0;
    bool m_following = false;
    bool m_stopping = false; ///< a newer decision stopped the running preview
};

} // namespace qs
