// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/side_plots.h"

#include "ui/plots/convergence_plot.h"
#include "ui/plots/error_bar_plot.h"
#include "ui/session/workspace.h"
#include "ui/style/choice_bar.h"

#include <QApplication>

namespace qs {

SidePlots::SidePlots(Workspace& workspace, QWidget* parent)
    : QStackedWidget(parent)
    , m_errors(new ErrorBarPlot(workspace, this))
    , m_ranges(new ConvergencePlot(workspace, this))
{
    setObjectName(QStringLiteral("sidePlots"));
    addWidget(m_errors);
    addWidget(m_ranges);
    PlotPage* const pages[] = {m_errors, m_ranges};
    for (const int page : {Errors, Ranges}) {
        m_bars[page] = new ChoiceBar(
            page == Errors ? QStringLiteral("besideErrors") : QStringLiteral("besideRanges"),
            tr("Plot beside the histogram"),
            {{tr("Errors"), tr("The error of each node")},
             {tr("Ranges"), tr("How the ranges settle with the number of batches")}},
            pages[page]);
        pages[page]->setCorner(*m_bars[page]);
        connect(m_bars[page], &ChoiceBar::picked, this, [this](int chosen) {
            const bool hadFocus = isAncestorOf(QApplication::focusWidget());
            showPage(chosen);
            if (hadFocus)
                m_bars[chosen]->focusChosen();
        });
    }
    showPage(Errors);
    connect(&workspace.pipeline(), &Pipeline::started, this, [this](Stage stage) {
        if (stage == Stage::Calibrate)
            showPage(Ranges);
        else if (stage == Stage::Compare)
            showPage(Errors);
    });
}

void SidePlots::showPage(int page)
{
    setCurrentIndex(page);
    for (ChoiceBar* bar : m_bars)
        bar->setChosen(page);
}

} // namespace qs
