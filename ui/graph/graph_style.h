// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/graph_layout.h"
#include "ui/session/facts.h"

#include <QColor>
#include <QString>

#include <vector>

namespace qs {

/// What the colours of the graph mean.
enum class ColourBy
{
    Op,
    Verdict,
    QConfig,
    BornHere,
    Cumulative,
    Isolated
};
bool isErrorColour(ColourBy by);
ErrorTerm errorTermOf(ColourBy by);
QString colourByText(ColourBy by);

/// How one drawn node looks.
struct NodeStyle
{
    QString title;
    QString detail; ///< second line, fixed width
    QColor bar;
    QString badge; ///< the node's SQNR, else a word for its verdict, else empty
    QColor badgeFill; ///< invalid: as quiet as can be
    bool isMeasured = false; ///< the badge is an SQNR
    bool folded = false;
    bool faded = false; ///< numbers older than the recipe
    bool behind = false; ///< the filter is after others
};

/// One entry of the legend.
struct LegendEntry
{
    QColor color;
    QString text;
};

struct GraphStyle
{
    std::vector<NodeStyle> nodes; ///< parallel to GraphDrawing::nodes
    std::vector<LegendEntry> legend;
    double best = 0, worst = 0; ///< of the colour scale, when colouring by error
    bool scale = false;
    std::vector<QString> frameTitles; ///< parallel to GraphDrawing::boxes
};

GraphStyle styleGraph(const GraphDrawing& drawing, const Facts& facts, ColourBy by);

/// "8×64×56×56"; symbolic sizes by name, "?" where unknown.
QString shapeText(const ValueType& type);
/// A scale in four significant digits without a leading zero: ".0731".
QString scaleText(double scale);

} // namespace qs
