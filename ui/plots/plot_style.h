// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

class QCustomPlot;
class QWidget;
class QCPAxis;

namespace qs {

/// Sets fonts, colours and axes of a plot from the theme.
void stylePlot(QCustomPlot& plot);
void styleAxis(QCPAxis& axis, bool line);
/// Returns the share of the vertical axis for a label of two lines above the data.
double headroomShare(const QCustomPlot& plot);
/// Fills the background of a page with the panel's colour.
void fillPanel(QWidget& widget);
/// Returns "25.7 M" or "1,234".
QString countText(double count);

} // namespace qs
