// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/node_words.h"
#include "ui/graph/style/colour_by.h"
#include "ui/graph/view/graph_drawing.h"
#include "ui/session/facts.h"

#include <QColor>
#include <QString>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

namespace qs {

/// The colours of one drawn node. Kept small, as there may be 50,000.
struct NodeStyle
{
    QRgb bar = 0;
    QRgb fill = 0; ///< of the badge; transparent: unobtrusive
    /// dB; log2 of bytes or nanoseconds; a share; imported values unchanged
    float measure = std::numeric_limits<float>::quiet_NaN();
    std::int8_t rule = -1; ///< index of the style rule that applies; -1: none
    bool folded : 1 = false;
    bool repeats : 1 = false; ///< a box around repeated blocks
    bool faded : 1 = false; ///< its numbers are older than the recipe
    bool behind : 1 = false; ///< dimmed: outside of the filter, the trace or the range
    bool painted : 1 = false; ///< the rule gave the bar its colour
    bool isMeasured() const { return !std::isnan(measure); }
};

/// The texts on one node. Built when the node is painted.
struct NodeText
{
    QString title;
    QString detail; ///< second line, fixed width
    QString inside; ///< third line: parameters with their shapes, or literal arguments
    QString badge; ///< the measure, else a word for the verdict, else empty
};

/// One entry of the legend.
struct LegendEntry
{
    QColor color;
    QString text;
};

/// The ends of a colour scale.
struct ScaleRange
{
    double best = 0, worst = 0;
    /// Returns 0 at the good end, 1 at the bad end, values beyond for measures outside.
    double badness(double measure) const { return (best - measure) / (best - worst); }
    friend bool operator==(const ScaleRange&, const ScaleRange&) = default;
};

struct GraphStyle
{
    std::vector<NodeStyle> nodes; ///< parallel to GraphDrawing::nodes
    std::function<NodeText(int, const NodeStyle&)> words; ///< by index of a node
    std::vector<LegendEntry> legend;
    std::vector<LegendEntry> ruleLegend; ///< of the style rules
    ColourBy by = ColourBy::Verdict;
    QString title; ///< of the legend: the imported data's own title
    bool scale = false; ///< colours show numbers, and some are known
    ColourRamp ramp; ///< of the scale
    ScaleRange full; ///< of all measures
    ScaleRange range; ///< covered by the colours

    /// Returns the texts on a node. Call only after `styleGraph`.
    NodeText text(int node) const { return words(node, nodes[std::size_t(node)]); }
};

/// Returns the styles of all nodes. Texts are built later from the same drawing and facts, which
/// are borrowed and must outlive the style. Nodes of a converted graph are coloured by their float
/// nodes of origin. `range`: the part of the scale that the user chose.
GraphStyle styleGraph(const GraphDrawing& drawing, const Facts& facts, ColourBy by,
                      const std::optional<ScaleRange>& range = {});

/// Returns the float node of origin: the node itself in a float graph; none if conversion added it.
NodeId floatNodeOf(const Graph& graph, const Graph* model, NodeId id);

} // namespace qs
