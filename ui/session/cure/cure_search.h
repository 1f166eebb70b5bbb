// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/pipeline/engine_service.h"
#include "ui/session/cure/search_folder.h"
#endif

#include <QObject>
#include <QString>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

namespace qs {

class SearchSeen;
class Workspace;

/// The user's choices for a search of cures. A value.
struct CureChoices
{
    TuneGoal goal;
    double keepInt8 = 0.8; ///< least share of the multiplications that stay in int8
    std::optional<double> seconds; ///< budget; empty = none
    bool trains = false; ///< a training may follow if the cures miss the goal
    friend bool operator==(const CureChoices&, const CureChoices&) = default;
};

/// Searches cures on the engine lane, from the recipe at its start, as `quantscope tune` does.
/// Decisions of the user do not end it: other engine work has precedence, and the search then
/// resumes with the trials it has measured. Each trial can be taken as one undoable decision. Other
/// data, another device or another model drop search and trials. State and files are kept on this
/// machine (`SearchFolder`): the same search measures no trial again, also in a later window. GUI
/// thread only.
class CureSearch : public QObject
{
    Q_OBJECT

public:
    enum class Phase
    {
        Idle, ///< not started since the model was opened
        Running,
        Paused,
        Ended ///< stopped by the user, failed or finished
    };

    explicit CureSearch(Workspace& workspace);
    ~CureSearch() override;

    /// True with a model, its plan and data, and for a goal on the user's metric with its command.
    bool canStart() const;
    /// The choices for the next search. They do not change a running or paused one.
    const CureChoices& choices() const { return m_choices; }
    void setChoices(const CureChoices& choices) { m_choices = choices; }
    /// Starts a search from the current recipe; no effect while one runs or if it cannot start.
    /// Trials that an earlier search measured are not measured again.
    void start();
    /// Stops within 200 ms and keeps the trials; `resume` continues with the same request.
    void pause();
    void resume();
    /// Ends the search and keeps its trials.
    void stop();

    Phase phase() const { return m_phase; }
    bool isRunning() const { return m_phase == Phase::Running; }
    /// The newest state; without trials before the first one.
    const TuneState& state() const { return m_state; }
    /// The request of the running or last search; its recipe is the one the search started from.
    const TuneRequest& request() const { return m_request; }
    /// The best trial so far; null before the first one.
    const Trial* best() const;
    /// While it runs: "trial 4", "ranges by mse".
    const QString& progressText() const { return m_progress; }
    /// Why the search failed, in one line; empty if it did not.
    const QString& problem() const { return m_problem; }

    /// The recipe that a trial measured.
    Recipe recipeOf(std::size_t trial) const;
    /// Makes a trial's recipe the document's, as one undoable step; no step if it is equal. Writes
    /// the numbers of its cures beside the model, into `MODEL.cures`; if that fails, nothing
    /// changes and `problem` says why.
    void take(std::size_t trial);
    /// The trial whose recipe is the document's; empty if none is.
    std::optional<std::size_t> taken() const;
    /// Number of decisions since the start that no trial contains; 0 if the recipe is that of the
    /// start or of a trial.
    int changesSince() const;

Q_SIGNALS:
    /// It started, progressed or ended, or a new state arrived.
    void changed();
    /// A trial was taken that does not contain this many decisions of the user.
    void tookOver(int changes);

private:
    void run();
    /// Takes the newest state; false if the last call already took it.
    bool showNewest();
    void learn(const TuneState& state);
    void finish(Result<TuneState> made);
    void end(Phase phase);
    void drop();
    /// Where a file of the search is kept once its trial is taken.
    std::filesystem::path keptFile(const Cure& cure) const;
    bool keepNumbers(std::size_t trial);

    Workspace& m_workspace;
    TuneRequest m_request;
    std::string m_command; ///< of the user's metric, if it is the goal
    CureChoices m_choices; ///< of the next search
    TuneState m_state;
    SearchFolder m_folder;
    std::filesystem::path m_kept; ///< folder for the files of a taken trial
    KnownTrials m_known;
    std::string m_knownMetric; ///< identity of the metric that these were measured with
    std::shared_ptr<SearchSeen> m_seen;
    Phase m_phase = Phase::Idle;
    QString m_progress, m_problem;
    double m_spent = 0; ///< seconds of the budget that earlier runs used
    std::chrono::steady_clock::time_point m_started; ///< of this run
    int m_startIndex = 0; ///< of the undo stack
    int m_takenIndex = -1; ///< of the undo stack, after a trial was taken
};

/// The figure of a trial on the guard that the goal is about: "20.6 dB", "metric 0.97".
QString trialFigure(const Trial& trial, const TuneGoal& goal);
/// A goal in words: "20.0 dB", "cosine 0.98".
QString goalWords(const TuneGoal& goal);

} // namespace qs
