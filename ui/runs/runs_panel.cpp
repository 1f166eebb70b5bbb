// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/runs_panel.h"

#include "ui/plots/plot_style.h"
#include "ui/runs/run_comparison.h"
#include "ui/runs/run_list.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

namespace qs {

RunsPanel::RunsPanel(Workspace& workspace, RunLibrary& library, QWidget* parent)
    : QWidget(parent)
{
    setObjectName(QStringLiteral("runsPanel"));
    fillPanel(*this);
    auto* sides = makeSplitter("runsSides", Qt::Horizontal, this);
    m_list = new RunList(workspace, library, sides);
    auto* comparison = new RunComparison(workspace, library, sides);
    // Both get a share of a small screen and scroll.
    m_list->setMinimumWidth(px(140));
    comparison->setMinimumWidth(px(150));
    sides->setStretchFactor(0, 2);
    sides->setStretchFactor(1, 3);
    sides->setSizes({px(440), px(610)});
    setFocusProxy(m_list);
    makeVBox(this)->addWidget(sides);
    connect(comparison, &RunComparison::revealWanted, this, &RunsPanel::revealWanted);
}

void RunsPanel::askToKeep()
{
    m_list->askToKeep();
}

} // namespace qs
