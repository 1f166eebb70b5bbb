// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

namespace qs {

enum class Stage;
class Workspace;

/// Waits for a conversion of the current decisions, for work on the converted model: repeats a
/// stale calibration or conversion first. Owned by the object that does the work. GUI thread only.
class ConversionWait : public QObject
{
    Q_OBJECT

public:
    ConversionWait(Workspace& workspace, QObject* parent);

    /// True if calibration and conversion are those of the current decisions.
    bool isReady() const;
    bool isWaiting() const { return m_isWaiting; }
    /// Emits `ready` at once, or after the conversion.
    void start();
    void stop() { m_isWaiting = false; }

Q_SIGNALS:
    void ready();
    /// A stage failed, or the user cancelled it.
    void ended();

private:
    void goOn(Stage stage);
    void end();

    Workspace& m_workspace;
    bool m_isWaiting = false;
};

} // namespace qs
