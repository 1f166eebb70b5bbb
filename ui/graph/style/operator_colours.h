// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/facts.h"

#include <QColor>

#include <string>

namespace qs {

/// The colour of an operator's family; of one without a family a colour of its name's own.
QColor opColor(const std::string& op);
/// The element type that a node's value has by the plan; in a graph that is not the model's, its
/// own. `leader`: the node of the model that carries the unit's output.
DType dtypeOf(const Facts& facts, const Graph& graph, NodeId node, NodeId leader);

} // namespace qs
