// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/facts.h"
#include "ui/session/fold_tree.h"

#include <QString>

namespace qs {

/// "3 nodes": number of nodes drawn when the entry is unfolded; a fusion is one.
QString nodeCount(const FoldEntry& entry);
/// The second line of a unit: its quantization, why it stays float, else its operator. `leader` is
/// the float node that the unit is judged by; in a converted graph the operator is what counts.
QString unitDetail(const Facts& facts, const Graph& graph, const FoldEntry& entry, NodeId leader);
/// The second line of a module: "14 nodes, 2 blocks"; of a box around blocks "14 nodes each".
QString moduleDetail(const FoldTree& tree, const FoldEntry& entry);
/// "weight 64×3×7×7, bias 64", a single number by its value, "scale 0.125"; else the literal
/// arguments: "dim -1".
QString insideText(const Facts& facts, const Graph& graph, const FoldTree& tree,
                   const FoldEntry& entry);
/// " · 2 bodies": the entry has bodies to open.
QString bodiesDetail(const Facts& facts, const Graph& graph, const FoldEntry& entry);
/// One word on the decision, shown before anything is measured.
QString verdictBadge(const Facts& facts, NodeId leader, Verdict verdict);
/// True if a decision keeps the operator float.
bool isFloat(Verdict verdict);
/// "8×64×56×56"; symbolic sizes by name, "?" where unknown.
QString shapeText(const ValueType& type);
/// A scale in four significant digits without a leading zero: ".0731".
QString scaleText(double scale);

} // namespace qs
