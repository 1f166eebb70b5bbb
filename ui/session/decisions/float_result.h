// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/graph/node.h"
#endif

#include <QString>

#include <vector>

namespace qs {

class Workspace;

/// State of the choice whether quantized layers return a float result.
struct FloatResultChoice
{
    bool isOn = false; ///< all chosen layers that may return float do so
    bool isOpen = false; ///< can be changed: such layers exist, and no other key decides
    QString why; ///< text of the tooltip
};
/// Returns the choice for the statically quantized linears and convolutions among the nodes.
/// Thread: GUI.
FloatResultChoice floatResultOf(Workspace& workspace, const std::vector<NodeId>& nodes);

/// One undoable step: writes node rules that change each of these layers' qconfigs to a float
/// result, or back to a quantized one. Thread: GUI.
void setFloatResult(Workspace& workspace, const std::vector<NodeId>& nodes, bool isFloat);

} // namespace qs
