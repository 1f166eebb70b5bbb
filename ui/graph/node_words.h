// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/facts.h"
#include "ui/session/fold_tree.h"

#include <QString>

namespace qs {

/// Returns "3 nodes": the number of nodes drawn when the entry is unfolded; a fusion counts once.
QString nodeCount(const FoldEntry& entry);
/// Returns the second line of a unit: its quantization, else why it stays float, else its operator.
/// In a converted graph: its operator. `leader`: the float node with the unit's decision.
QString unitDetail(const Facts& facts, const Graph& graph, const FoldEntry& entry, NodeId leader);
/// Returns the second line of a module, "14 nodes, 2 blocks", or of a box, "14 nodes each".
QString moduleDetail(const FoldTree& tree, const FoldEntry& entry);
/// Returns the third line of a unit: "weight 64×3×7×7, bias 64", single numbers as values, "scale
/// 0.125"; else the literal arguments: "dim -1".
QString insideText(const Facts& facts, const Graph& graph, const FoldTree& tree,
                   const FoldEntry& entry);
/// Returns " · 2 bodies" if the entry has bodies to open; else empty.
QString bodiesDetail(const Facts& facts, const Graph& graph, const FoldEntry& entry);
/// Returns one word for the decision, shown until there is a measurement.
QString verdictBadge(const Facts& facts, NodeId leader, Verdict verdict);
/// True if a decision keeps the operator float.
bool isFloat(Verdict verdict);
/// Returns "8×64×56×56"; symbolic sizes by name, "?" for unknown ones.
QString shapeText(const ValueType& type);
/// Formats a scale in three significant digits without a leading zero: ".0731".
QString scaleText(double scale);

} // namespace qs
