// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/plot_style.h"

#include "ui/plots/custom_plot.h"
#include "ui/style/theme.h"

#include <QLocale>

#include <algorithm>

namespace qs {

void styleAxis(QCPAxis& axis, bool line)
{
    const Theme& t = theme();
    axis.setBasePen(line ? QPen(t.border, 1) : QPen(Qt::NoPen));
    axis.setTickPen(Qt::NoPen);
    axis.setSubTickPen(Qt::NoPen);
    axis.setTickLabelFont(uiFont(10));
    axis.setTickLabelColor(t.muted);
    axis.setTickLabelPadding(5);
    axis.grid()->setPen(QPen(t.window, 1));
    axis.grid()->setZeroLinePen(Qt::NoPen);
    axis.setUpperEnding(QCPLineEnding::esNone);
}

void stylePlot(QCustomPlot& plot)
{
    plot.setBackground(theme().panel);
    plot.setMinimumSize(120, 60);
    // An immediate repaint would paint all pending parts of the window, and later ones again.
    plot.setPlottingHint(QCP::phImmediateRefresh, false);
    plot.xAxis->grid()->setVisible(false);
    styleAxis(*plot.xAxis, true);
    styleAxis(*plot.yAxis, false);
    plot.axisRect()->setAutoMargins(QCP::msLeft | QCP::msBottom);
    plot.axisRect()->setMargins(QMargins(0, 6, 16, 0));
}

double headroomShare(const QCustomPlot& plot)
{
    const double label = px(38), ticks = px(26);
    return std::clamp(label / std::max(plot.height() - ticks, 1.0), 0.1, 0.45);
}

void fillPanel(QWidget& widget)
{
    QPalette colours = widget.palette();
    colours.setColor(QPalette::Window, theme().panel);
    widget.setPalette(colours);
    widget.setAutoFillBackground(true);
}

QString countText(double count)
{
    const QLocale c = QLocale::c();
    if (count >= 1e9)
        return QStringLiteral("%1 G").arg(count / 1e9, 0, 'f', 1);
    if (count >= 1e6)
        return QStringLiteral("%1 M").arg(count / 1e6, 0, 'f', 1);
    if (count >= 1e4)
        return QStringLiteral("%1 k").arg(count / 1e3, 0, 'f', 1);
    return c.toString(qint64(count));
}

} // namespace qs
