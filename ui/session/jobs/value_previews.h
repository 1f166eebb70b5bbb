// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/execute/value_preview.h"
#endif

#include <QObject>
#include <QString>

#include <map>
#include <vector>

class QTimer;

namespace qs {

class Workspace;

/// Previews of the model's parameters, buffers and constants, computed on a pool thread and cached.
/// Requests of one turn of the event loop are answered together. GUI thread only.
class ValuePreviews : public QObject
{
    Q_OBJECT

public:
    explicit ValuePreviews(Workspace& workspace, QObject* parent = nullptr);

    /// Returns the preview of a parameter, buffer or constant. Null if it is not read yet: then
    /// `arrived` follows. If the value cannot be read, the preview's text is the reason.
    const ValuePreview* ask(NodeId node);

Q_SIGNALS:
    void arrived();

private:
    void readWanted();

    Workspace& m_workspace;
    std::map<NodeId, ValuePreview> m_known;
    std::vector<NodeId> m_wanted;
    bool m_reading = false;
    QTimer* m_start;
};

/// "-0.42 … 0.39 · mean 0.0013"; empty without values to measure.
QString rangeText(const ValuePreview& preview);
/// "0.12, -0.034, 0.5, …"
QString firstText(const ValuePreview& preview);

} // namespace qs
