// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/graph/node.h"
#endif

#include <QString>

#include <vector>

namespace qs {

class Workspace;

/// Whether the results of chosen layers stay float although they are quantized.
struct FloatResultChoice
{
    bool isOn = false; ///< for all layers among them that may return float
    bool isOpen = false; ///< it can be changed: there are such layers, and no other key decides
    QString why; ///< text of the tooltip
};
/// Of the statically quantized linears and convolutions among the nodes. GUI thread.
FloatResultChoice floatResultOf(Workspace& workspace, const std::vector<NodeId>& nodes);

/// One undoable step: gives each of these layers a qconfig that is theirs with a float result, or
/// with a quantized one, by node rules. GUI thread.
void setFloatResult(Workspace& workspace, const std::vector<NodeId>& nodes, bool isFloat);

} // namespace qs
