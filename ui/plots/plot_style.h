// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

class QCustomPlot;
class QWidget;
class QCPAxis;

namespace qs {

/// Fonts, colours and axes of every plot, from the theme.
void stylePlot(QCustomPlot& plot);
void styleAxis(QCPAxis& axis, bool line);
/// The part of the vertical axis that a label of two lines above the data takes.
double headroomShare(const QCustomPlot& plot);
/// White ground under a whole page.
void fillPanel(QWidget& widget);
/// "25.7 M", "1,234".
QString countText(double count);

} // namespace qs
