// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/base/error.h"
#endif

#include <QObject>
#include <QString>

namespace qs {

enum class Stage;
class Workspace;

/// Finds on the engine lane which quantizers cause the noise of the outputs, when the user asks,
/// and publishes it as the document's diagnosis. A calibration or conversion that is out of date is
/// made anew before. A changed decision, other data and the user's cancel stop it; a decision of
/// the calibration that it waits for does not. GUI thread only.
class CauseFinder : public QObject
{
    Q_OBJECT

public:
    explicit CauseFinder(Workspace& workspace);

    void find();
    bool isRunning() const;
    double fraction() const { return m_fraction; } ///< of the job that runs

Q_SIGNALS:
    /// It started, went on or ended.
    void changed();
    void found();
    /// There is nothing to look at yet, and what to do about it.
    void refused(const QString& why);
    void failed(const qs::Error& error);

private:
    bool isReady() const;
    void start();
    void goOn(Stage stage);
    void stop();
    void stopJob();

    Workspace& m_workspace;
    double m_fraction = 0;
    bool m_waiting = false; ///< for stages that come before
};

} // namespace qs
