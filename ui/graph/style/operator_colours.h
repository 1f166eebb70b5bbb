// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/facts.h"

#include <QColor>

#include <string>

namespace qs {

/// Returns the colour of an operator's family; without a family a colour derived from its name.
QColor opColor(const std::string& op);
/// Returns the dtype of a node's value under the plan; in another graph than the model's, the
/// value's own dtype. `leader`: the node of the model that carries the unit's output.
DType dtypeOf(const Facts& facts, const Graph& graph, NodeId node, NodeId leader);

} // namespace qs
