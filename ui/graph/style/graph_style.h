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

/// How one drawn node is coloured. Small: there is one for each of fifty thousand nodes.
struct NodeStyle
{
    QRgb bar = 0;
    QRgb fill = 0; ///< of the badge; transparent: as quiet as can be
    /// dB; bytes or nanoseconds as a power of two; a share; what was imported as it is
    float measure = std::numeric_limits<float>::quiet_NaN();
    std::int8_t rule = -1; ///< the style rule that applies, by its place in the list
    bool folded : 1 = false;
    bool repeats : 1 = false; ///< a box around blocks that are the same again
    bool faded : 1 = false; ///< numbers older than the recipe
    bool behind : 1 = false; ///< dimmed: outside of the filter, the trace or the range
    bool painted : 1 = false; ///< the rule gave the bar its colour
    bool isMeasured() const { return !std::isnan(measure); }
};

/// The words on one node. Made when the node is painted.
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

/// The ends of a colour scale, as good and as bad as it gets.
struct ScaleRange
{
    double best = 0, worst = 0;
    /// 0 at the good end, 1 at the bad one, beyond them outside.
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
    bool scale = false; ///< colours show numbers, and there are some
    ColourRamp ramp; ///< of the scale
    ScaleRange full; ///< of all that was measured
    ScaleRange range; ///< that the colours are spread over

    /// The words on a node. The style must be made.
    NodeText text(int node) const { return words(node, nodes[std::size_t(node)]); }
};

/// Styles of all nodes. The words are made later from the same drawing and facts, which are
/// borrowed and must live as long as the style. A graph made from the model is coloured by the
/// float nodes that its nodes came from. `range`: the part of the scale that the user chose.
GraphStyle styleGraph(const GraphDrawing& drawing, const Facts& facts, ColourBy by,
                      const std::optional<ScaleRange>& range = {});

/// The float node a node came from: itself in a float graph; none for what conversion added.
NodeId floatNodeOf(const Graph& graph, const Graph* model, NodeId id);

} // namespace qs
