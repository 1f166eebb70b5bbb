// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/pipeline/engine_service.h"
#include "engine/pipeline/keys/data_identity.h"
#include "ui/session/jobs/pipeline.h"
#endif

#include <QElapsedTimer>
#include <QObject>

#include <atomic>
#include <memory>
#include <optional>

namespace qs {

class Workspace;

/// The user's choices for a training. A value.
struct TrainingChoices
{
    TrainingSettings training; ///< the device is the document's
    bool fromScratch = false; ///< without the ranges of a calibration
    bool resumes = false; ///< continue the training that was stopped with this file
    QString file; ///< the trained model is written here
};

/// The checkpoint of a training that writes `file`: "net.partial.npz" beside "net.pt2".
QString checkpointOf(const QString& file);

/// Trains the document's model with simulated quantization on the engine lane, on the user's
/// request, and makes the result one undoable decision: a cure that replaces an earlier training.
/// Calibrates first if the calibration is stale. A cancel keeps the best state so far; another
/// model or graph drops the training. A stopped training can be resumed: its decision is undone,
/// and comes back if that fails. GUI thread only.
class ModelTrainer : public QObject
{
    Q_OBJECT

public:
    explicit ModelTrainer(Workspace& workspace);

    /// True with a model, its plan and data.
    bool canStart() const;
    /// No effect while a training runs or if it cannot start.
    void start(const TrainingChoices& choices);
    void cancel();
    /// Stops the training without a decision and without a file; it can be resumed. The decision
    /// that it was resumed from comes back.
    void discard();
    /// Waits until nothing runs; processes events meanwhile, but no input of the user.
    void waitForEnd();
    /// True while steps run whose result is wanted.
    bool isTraining() const { return m_isRunning && !m_isWaiting && !m_isDropped; }
    /// True while it trains or waits for the calibration.
    bool isRunning() const { return m_isRunning; }
    /// The points of the running or last training of this model, without its model.
    const Training& training() const { return m_training; }
    /// The choices of that training.
    const TrainingChoices& choices() const { return m_choices; }
    double fraction() const { return m_fraction; }
    /// While it runs: "step 120 of 300 · 14 steps/s · 13 s left".
    QString progressText() const;
    /// After it: "34.2 to 36.1 dB on 32 guard samples", with the reason if it ended early; or why
    /// it failed. Empty before the first training.
    QString resultText() const { return m_result; }

    /// True if the recipe has a training, the plan uses qconfigs for training, or a training runs.
    bool isPartOfPipeline() const;
    /// State of the stage "Train" in the tool bar.
    StageStatus status() const;

Q_SIGNALS:
    /// It started, progressed or ended.
    void changed();
    /// It ended with a result: a new decision, or no improvement.
    void finished();
    void failed(const qs::Error& error);

private:
    struct Seen; ///< the newest points, written by the engine's thread
    bool isReady() const;
    bool isPlannedForTraining() const;
    bool goBack();
    void undoGoingBack();
    Stage firstStage() const;
    TrainRequest request() const;
    void begin();
    void goOn(Stage stage);
    void drop();
    void take(Result<SavedTraining> made);
    void endWith(const Error& error);
    void end();
    void showProgress(const Progress& progress);

    Workspace& m_workspace;
    TrainingChoices m_choices;
    Training m_training;
    std::shared_ptr<Seen> m_seen;
    std::shared_ptr<ContentHashes> m_hashes; ///< of the data; jobs share them
    std::shared_ptr<std::atomic<bool>> m_isDiscarded; ///< read by the engine's thread
    QString m_result;
    double m_fraction = 0;
    int m_step = 0, m_firstStep = 0; ///< of the reports of the running training
    QString m_phase; ///< of the work before and after the steps; empty during them
    QElapsedTimer m_clock; ///< since the first reported step
    bool m_isRunning = false;
    bool m_isWaiting = false; ///< for the calibration
    bool m_isDropped = false; ///< the running training belongs to another graph
    bool m_hasFailed = false;
    int m_wentBackTo = -1; ///< index of the history from which a training resumed; -1: none
    mutable PlanPtr m_checkedPlan; ///< of `m_isPlanned`
    mutable bool m_isPlanned = false;
};

/// True if the best state is one that steps led to.
bool isGain(const Training& training);
/// Returns "34.2 to 36.1 dB on 32 guard samples"; without a guard the number of steps.
QString gainText(const Training& training);

} // namespace qs
