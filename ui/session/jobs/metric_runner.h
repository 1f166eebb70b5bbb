// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>

namespace qs {

class ConversionWait;
class Workspace;

/// Measures the user's metric of both models on the engine lane, in a separate process, only
/// on the user's request, and publishes it in the document. The user types the command in this
/// window: models, recipes, projects and results cannot hold one. A changed decision,
/// other data or a cancel stop it. GUI thread only.
class MetricRunner : public QObject
{
    Q_OBJECT

public:
    explicit MetricRunner(Workspace& workspace);

    /// A shell command that gets the path of an .npz with a model's outputs and prints a number;
    /// empty without one.
    const QString& command() const { return m_command; }
    void setCommand(const QString& command);
    /// True with a command, a calibration and nothing running here.
    bool canMeasure() const;
    /// Repeats a stale calibration or conversion first.
    void measure();
    void cancel();
    bool isRunning() const;
    /// Why the last measurement failed, in one line; empty if it did not.
    const QString& problem() const { return m_problem; }

Q_SIGNALS:
    /// The command changed, or a measurement started or ended.
    void changed();
    /// The document has a new value.
    void measured();

private:
    void run();

    Workspace& m_workspace;
    ConversionWait* m_wait;
    QString m_command, m_problem;
};

/// A value of a user's metric: up to six digits, "0.8125".
QString metricText(double value);

} // namespace qs
