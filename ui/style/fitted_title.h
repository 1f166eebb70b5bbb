// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

class QFontMetricsF;

namespace qs {

/// A node's title in a width. Of "block1.conv1.conv + bn + relu" first what is fused goes, then the
/// modules from the left at their dots, as they stand around the node and the tree leaves them out
/// too; of "block1.conv2 · conv2d" the operator stays. Pure.
QString fittedTitle(const QFontMetricsF& metrics, const QString& title, double width);

} // namespace qs
