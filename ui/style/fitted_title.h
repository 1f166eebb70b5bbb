// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

class QFontMetricsF;

namespace qs {

/// Shortens a node's title to a width. For "block1.conv1.conv + bn + relu" removes first the fused
/// parts, then modules from the left at their dots (the node's surroundings show them). For
/// "block1.conv2 · conv2d" the operator stays. Pure.
QString fittedTitle(const QFontMetricsF& metrics, const QString& title, double width);

} // namespace qs
