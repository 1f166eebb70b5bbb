// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>

namespace qs {

enum class Stage;
class Workspace;

/// The wait for a conversion of the current decisions, for an engine job on the converted model:
/// repeats a stale calibration or conversion first. A changed decision, other data, another graph
/// or a cancel stop the job; a decision by the calibration that is waited for does not end the
/// wait. Owned by the object that runs the job. GUI thread only.
class ConversionWait : public QObject
{
    Q_OBJECT

public:
    /// `job`: the tag of the job.
    ConversionWait(Workspace& workspace, const QString& job, QObject* parent);

    /// True while it waits or the job runs.
    bool isBusy() const { return m_isWaiting || isJobRunning(); }
    bool isJobRunning() const;
    /// Emits `ready` at once, or after the conversion.
    void start();
    /// Ends the wait, or cancels the job.
    void stop();

Q_SIGNALS:
    void ready();
    /// It was stopped, or the conversion failed.
    void ended();

private:
    bool isReady() const;
    void goOn(Stage stage);
    void end();
    void cancelJob();

    Workspace& m_workspace;
    QString m_job;
    bool m_isWaiting = false;
};

} // namespace qs
