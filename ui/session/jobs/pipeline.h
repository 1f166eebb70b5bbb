// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/base/time_left.h"
#endif
#include "ui/session/document.h"
#include "ui/session/jobs/job_runner.h"

#include <QElapsedTimer>
#include <QObject>

#include <array>
#include <optional>

namespace qs {

/// State of a stage's button.
struct StageStatus
{
    enum class State
    {
        Waiting, ///< never run
        Running,
        Done,
        Stale, ///< done under other decisions
        Failed
    };
    State state = State::Waiting;
    QString text; ///< the second line
    double fraction = 0; ///< while running
};

/// The forms of an export and its folder.
struct ExportChoices
{
    QString folder;
    std::vector<std::string> forms;
    OnnxTarget onnxTarget = OnnxTarget::Generic; ///< of the form "onnx"
    bool saturates = false; ///< `ExportOptions::saturates`
    bool formsChosen = true; ///< `ExportRequest::formsChosen`
};

/// Runs the stages for one document, one after the other, off the GUI thread, and publishes their
/// results in it. Plans a changed recipe at once; costly stages wait for the user. GUI thread only.
class Pipeline : public QObject
{
    Q_OBJECT

public:
    Pipeline(EngineService& engine, Document& document, QObject* parent = nullptr);
    ~Pipeline() override;

    /// Opens a model with the recipe to start from.
    void open(const QString& path, const Recipe& recipe);
    void plan();
    /// Runs every stage up to `target` that has no current result, and `target` itself in any case.
    void runUpTo(Stage target);
    void exportTo(const ExportChoices& choices);
    /// Shows the results of an earlier run if they belong to the current decisions; else emits
    /// `notAdopted` with the reason.
    void adopt(const StoredRun& stored);
    /// Writes the current results into a folder, in parallel to other jobs; false without current
    /// results. A failure is reported as one of the export stage.
    bool keepResults(const QString& folder);
    /// The request that exports the current results; the conversion must be current.
    ExportRequest exportRequest() const;
    /// The comparison of the document's conversion.
    CompareRequest compareRequest() const;
    /// Waits for the job of `keepResults`; processes events meanwhile.
    void waitForKept();
    void cancel();
    bool isBusy() const { return !m_jobs.isIdle(); }
    /// True if a stage runs or is about to.
    bool isRunning() const { return m_running >= 0 || m_target >= 0; }
    /// The running stage; nothing between two stages, while the model is planned for the next.
    std::optional<Stage> running() const
    {
        return m_running >= 0 ? std::optional(Stage(m_running)) : std::nullopt;
    }
    /// The file that is being opened; empty without one.
    QString opening() const { return m_running == int(Stage::Open) ? m_opening : QString(); }
    JobRunner& jobs() { return m_jobs; }
    EngineService& engine() { return m_engine; }
    StageStatus status(Stage stage) const;
    /// Receives the snapshots of the running calibration; null while none runs.
    std::shared_ptr<CalibrationWatch> watch() const
    {
        return m_running == int(Stage::Calibrate) ? m_watch : nullptr;
    }
    double seconds(Stage stage) const { return m_seconds[std::size_t(stage)]; }

Q_SIGNALS:
    void statusChanged();
    /// A stage started; messages of earlier runs are obsolete. Not for planning, which follows
    /// every decision automatically.
    void started(qs::Stage stage);
    void failed(qs::Stage stage, const qs::Error& error);
    void succeeded(qs::Stage stage);
    void notAdopted(const QString& why);
    /// The user cancelled: other owners of jobs stop theirs too.
    void cancelled();
    /// A calibration of the recipe `asked` adds decisions (`Calibration::notFinite`). The owner of
    /// the decisions publishes both.
    void decided(const CalibrationPtr& calibration, const Recipe& asked);

private:
    template<class T, class Work, class Store>
    void runStage(Stage stage, Work work, Store store);
    void runNext();
    bool isCurrent(Stage stage) const;
    /// Restores cached results of the current decisions.
    void recall();
    void take(const Recalled& found, const DecisionKeys& keys);
    void startStage(Stage stage);
    void begin(Stage stage);
    bool settle(Stage stage, const Error* error);
    QString doneText(Stage stage) const;
    QString runningText() const;

    EngineService& m_engine;
    Document& m_document;
    JobRunner m_jobs;
    std::array<double, kStageCount> m_seconds {};
    /// The decisions with which each stage last failed; nothing if it did not.
    std::array<std::optional<DecisionKeys>, kStageCount> m_failed {};
    bool m_everCalibrated = false; ///< if so, cached results may exist
    int m_running = -1;
    int m_target = -1;
    double m_fraction = 0;
    TimeLeft m_timeLeft;
    QString m_left; ///< "about 40 s left", or empty
    QElapsedTimer m_clock;
    std::shared_ptr<CalibrationWatch> m_watch; ///< of the last calibration
    QString m_opening; ///< the file opened last
    ExportChoices m_export;
};

/// Returns "Open", "Backend", "Plan" ...: an identifier, not translated.
QLatin1String stageName(Stage stage);
/// Returns the translated name of the stage.
QString stageText(Stage stage);

} // namespace qs
