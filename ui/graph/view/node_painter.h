// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/style/graph_style.h"

class QPainter;

namespace qs {

/// Detail levels, by scale of the view.
inline constexpr double kInsideLod = 0.7; ///< below: no third lines
inline constexpr double kTextLod = 0.45; ///< below: no second lines, shapes or badge figures
inline constexpr double kTitleLod = 0.28; ///< below: plain rectangles, with names for few nodes
inline constexpr double kNameLod = 0.12; ///< below: no names either
inline constexpr std::size_t kFewNodes = 150;

/// Returns the texts of a node, shortened to the lines that `paintNode` draws at this scale.
NodeText fittedText(const QRectF& rect, const NodeStyle& style, const NodeText& words, double lod);
/// Paints one node with texts from `fittedText`; for scales from `kTitleLod` on.
void paintNode(QPainter& p, const QRectF& rect, const NodeStyle& style, const NodeText& words,
               bool scale, double lod);
/// Paints one node as a plain rectangle with its name as large as possible.
void paintNamed(QPainter& p, const QRectF& rect, const NodeStyle& style, const QString& name,
                bool scale, double lod);
/// Mixes `share` of `ink` into `ground`.
QColor mixedColor(const QColor& ink, const QColor& ground, double share);
/// The fill colour of a node: a style rule tints it.
QColor nodeGround(const NodeStyle& style);
/// The colour of a node that is a plain rectangle; a dimmed one is mixed with the canvas.
QRgb plainColor(const NodeStyle& style, bool scale);
/// Paints the box with a plus (folded) or minus (open) of a module.
void paintFoldMark(QPainter& p, const QPointF& center, bool plus);

} // namespace qs
