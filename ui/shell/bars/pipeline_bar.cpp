// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/bars/pipeline_bar.h"

#include "ui/session/search/search_query.h"
#include "ui/session/workspace.h"
#include "ui/shell/bars/stage_button.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QLineEdit>
#include <QPainter>

#include <algorithm>

namespace qs {

PipelineBar::PipelineBar(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_train(new StageButton(QStringLiteral("Train"), tr("Train"), this))
    , m_search(new QLineEdit(this))
{
    setObjectName(QStringLiteral("pipelineBar"));
    setAutoFillBackground(true);
    QPalette colours = palette();
    colours.setColor(QPalette::Window, theme().panel);
    setPalette(colours);
    auto* row = makeHBox(this, {12, 7, 12, 7}, 8);
    for (int stage = 0; stage < kStageCount; ++stage) {
        auto* button = new StageButton(Stage(stage), this);
        connect(button, &QAbstractButton::clicked, this,
                [this, stage] { Q_EMIT stageClicked(Stage(stage)); });
        connect(button, &StageButton::cancelClicked, this, &PipelineBar::cancelClicked);
        row->addWidget(button, 3);
        m_buttons.push_back(button);
        if (Stage(stage) == Stage::Plan)
            row->addWidget(m_train, 3);
    }
    connect(m_train, &QAbstractButton::clicked, this, &PipelineBar::trainClicked);
    connect(m_train, &StageButton::cancelClicked, this, &PipelineBar::cancelClicked);
    setUpFilter(*m_search, "search", tr("Find nodes"), tr("Find a node …  Ctrl+F"));
    m_search->setToolTip(searchHint());
    m_search->setFont(uiFont(11.5));
    m_search->setMinimumHeight(px(30));
    m_search->setMinimumWidth(px(110));
    m_search->setFocusPolicy(Qt::ClickFocus);
    row->addSpacing(4);
    row->addWidget(m_search, 4);
    connect(&workspace.pipeline(), &Pipeline::statusChanged, this, &PipelineBar::refresh);
    const ModelTrainer* trainer = &workspace.trainer();
    connect(trainer, &ModelTrainer::changed, this, &PipelineBar::refreshTraining);
    refresh();
}

void PipelineBar::refresh()
{
    const auto& document = m_workspace.document();
    const bool open = document.model() != nullptr;
    const auto& converted = document.converted();
    const bool refused = converted
        && std::any_of(converted->checks.begin(), converted->checks.end(),
                       [](const KernelCheck& check) { return !check.passed; });
    for (int stage = 0; stage < kStageCount; ++stage) {
        auto* button = m_buttons[std::size_t(stage)];
        button->setStatus(m_workspace.pipeline().status(Stage(stage)),
                          stage == int(Stage::Convert) && refused);
        button->setEnabled(open || stage == int(Stage::Open));
    }
    refreshTraining();
}

void PipelineBar::refreshTraining()
{
    const ModelTrainer& trainer = m_workspace.trainer();
    m_train->setStatus(trainer.status());
    m_train->setEnabled(trainer.canStart());
    m_train->setVisible(trainer.isPartOfPipeline());
}

} // namespace qs
