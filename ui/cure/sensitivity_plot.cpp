// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/cure/sensitivity_plot.h"

#include "ui/cure/sensitivity_model.h"
#include "ui/plots/custom_plot.h"
#include "ui/plots/plot_style.h"
#include "ui/session/coalesce.h"
#include "ui/session/workspace.h"
#include "ui/style/property_cards.h"
#include "ui/style/theme.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace qs {

namespace {

constexpr double kLeastPercent = 1e-3; ///< smaller shares are drawn with zero, on the edge
constexpr double kZeroPlace = 1.0 / 30; ///< of zero, as a part of the least power of ten drawn

/// The power of ten at or below the least share that is drawn.
double footOf(const std::vector<double>& percents)
{
    double least = 10;
    for (const double percent : percents)
        if (percent >= kLeastPercent)
            least = std::min(least, percent);
    return std::pow(10, std::floor(std::log10(least)));
}

/// A logarithmic axis from below `foot` to 100 %. Labels, each of `label` pixels on an axis of
/// `pixels`, do not overlap; the place of zero is labelled 0.
void setDecades(QCPAxis& axis, double foot, double pixels, double label)
{
    const double least = foot / 80, most = 200, zero = foot * kZeroPlace;
    axis.setScaleType(QCPAxis::stLogarithmic);
    axis.setRange(least, most);
    const double decade = std::max(pixels, 1.0) / std::log10(most / least);
    const double step = std::max(1.0, std::ceil(label / decade));
    auto ticks = QSharedPointer<QCPAxisTickerText>::create();
    ticks->setSubTickCount(0);
    ticks->addTick(zero, QStringLiteral("0"));
    const int count = int((2 - std::log10(foot) + 0.1) / step) + 1;
    for (int i = 0; i < count; ++i) {
        const double power = 2 - i * step;
        if ((power - std::log10(zero)) * decade >= label)
            ticks->addTick(std::pow(10, power),
                           QStringLiteral("%1 %").arg(std::pow(10, power), 0, 'g', 3));
    }
    axis.setTicker(ticks);
}

/// The place of a share on such an axis.
double placeOf(double percent, double foot)
{
    return percent >= foot ? percent : foot * kZeroPlace;
}

} // namespace

SensitivityPlot::SensitivityPlot(Workspace& workspace, SensitivityModel& units, QWidget* parent)
    : DotPlot(workspace, QStringLiteral("sensitivityPlot"), "sensitivityDots",
              tr("Noise of the units over their multiplications"), parent)
    , m_units(units)
{
    const Theme& t = theme();
    m_plot->xAxis->grid()->setVisible(true);
    for (QCPAxis* axis : {m_plot->xAxis, m_plot->yAxis}) {
        axis->setLabelFont(uiFont(10));
        axis->setLabelColor(t.muted);
        axis->setLabelPadding(2);
    }
    m_plot->xAxis->setLabel(tr("multiplications"));
    m_plot->yAxis->setLabel(tr("noise"));
    m_dots = m_plot->addGraph();
    m_rings = m_plot->addGraph();
    for (QCPGraph* graph : {m_dots, m_rings}) {
        graph->setLineStyle(QCPGraph::lsNone);
        graph->setAntialiasedScatters(true);
    }
    m_rings->setScatterStyle(
        QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(t.text, 2), Qt::NoBrush, px(14)));
    m_caption->setText(tr("Upper left: cheap to cure"));
    connect(&units, &SensitivityModel::changed, this, &SensitivityPlot::refresh);
    connect(&workspace.selection(), &Selection::changed, this, &SensitivityPlot::showSelection);
    refresh();
}

void SensitivityPlot::refresh()
{
    const auto& units = m_units.units();
    std::vector<double> macs, noise;
    for (const UnitSensitivity& unit : units) {
        macs.push_back(100 * unit.macs);
        noise.push_back(100 * unit.noise.noise.part);
    }
    m_left = footOf(macs);
    m_foot = footOf(noise);
    leaveHeadroom();
    std::vector<QPointF> places;
    QVector<double> x, y;
    for (std::size_t i = 0; i < units.size(); ++i) {
        places.emplace_back(placeOf(macs[i], m_left), placeOf(noise[i], m_foot));
        x << places.back().x();
        y << places.back().y();
    }
    setDots(std::move(places));
    QColor ink = theme().accent;
    if (!m_units.staleReason().isEmpty())
        ink.setAlphaF(0.35f);
    m_dots->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(ink, 1.5), ink, px(7)));
    m_dots->setData(x, y);
    showAxes(!units.empty());
    showSelection();
}

void SensitivityPlot::leaveHeadroom()
{
    setDecades(*m_plot->xAxis, m_left, m_plot->width() - px(60), px(44));
    setDecades(*m_plot->yAxis, m_foot, m_plot->height() - px(38), px(16));
}

void SensitivityPlot::showSelection()
{
    QVector<double> x, y;
    QStringList words;
    for (const int row : m_units.selectedRows())
        if (std::size_t(row) < dots().size()) {
            x << dots()[std::size_t(row)].x();
            y << dots()[std::size_t(row)].y();
            words << m_units.describe(row);
        }
    m_rings->setData(x, y);
    m_plot->setAccessibleDescription(words.size() == 1 ? words.front() : m_caption->text());
    replot();
}

int SensitivityPlot::ringCount() const
{
    return m_rings->dataCount();
}

int SensitivityPlot::keyDot() const
{
    const std::vector<int> selected = m_units.selectedRows();
    return selected.empty() ? -1 : selected.front();
}

void SensitivityPlot::pointAt(int dot)
{
    m_plot->setToolTip(dot >= 0 ? m_units.describe(dot) : QString());
}

void SensitivityPlot::choose(int dot)
{
    m_units.choose({dot});
}

} // namespace qs
