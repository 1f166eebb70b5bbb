// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/base/error.h"
#endif

#include <QObject>
#include <QString>

namespace qs {

class ConversionWait;
class Workspace;

/// Finds on the engine lane which quantizers cause the noise of the outputs, on the user's request,
/// and publishes the document's diagnosis. Repeats a stale calibration or conversion first. A
/// changed decision, other data or a cancel stop it; a decision by the calibration that it waits
/// for does not. GUI thread only.
class CauseFinder : public QObject
{
    Q_OBJECT

public:
    explicit CauseFinder(Workspace& workspace);

    void find();
    bool isRunning() const;
    double fraction() const { return m_fraction; } ///< progress of the running job

Q_SIGNALS:
    /// The search started, progressed or ended.
    void changed();
    void found();
    /// Nothing can be diagnosed yet; `why`: the reason and the remedy.
    void refused(const QString& why);
    void failed(const qs::Error& error);

private:
    void start();

    Workspace& m_workspace;
    ConversionWait* m_wait;
    double m_fraction = 0;
};

} // namespace qs
