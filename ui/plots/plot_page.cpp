// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/plot_page.h"

#include "ui/plots/custom_plot.h"
#include "ui/plots/plot_style.h"
#include "ui/style/property_cards.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QHBoxLayout>
#include <QLabel>

#include <utility>

namespace qs {

PlotPage::PlotPage(Workspace& workspace, const QString& name, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_plot(new QCustomPlot(this))
    , m_caption(new ElidedLabel(QString(), uiFont(11), this))
    , m_empty(new QLabel(m_plot))
    , m_column(makeVBox(this, {16, 8, 8, 8}, 4))
    , m_head(makeHBox(nullptr, {}, px(8)))
{
    setObjectName(name);
    fillPanel(*this);
    const QString muted = inkStyle(theme().muted);
    m_caption->setColor(theme().muted);
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_empty->setStyleSheet(muted);
    m_head->addWidget(m_caption, 1);
    m_column->addLayout(m_head);
    m_column->addWidget(m_plot, 1);
    stylePlot(*m_plot);
}

void PlotPage::setCorner(QWidget& corner)
{
    m_head->addWidget(&corner);
}

QString PlotPage::caption() const
{
    return m_caption->text();
}

void PlotPage::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    m_empty->setGeometry(m_plot->rect().adjusted(20, 10, -20, -10));
    leaveHeadroom();
}

void PlotPage::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    if (std::exchange(m_isDue, false))
        m_plot->replot(); // at once: the page is painted next
}

void PlotPage::replot()
{
    m_isDue = !isVisible();
    if (!m_isDue)
        m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void PlotPage::replot(QCPLayer& layer)
{
    m_isDue |= !isVisible();
    if (!m_isDue)
        layer.replot();
}

void PlotPage::showAxes(bool any)
{
    m_plot->xAxis->setVisible(any);
    m_plot->yAxis->setVisible(any);
    m_empty->setVisible(!any);
}

} // namespace qs
