// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/document.h"

#include <QWidget>

#include <vector>

class QLineEdit;

namespace qs {

class StageButton;
class Workspace;

/// The tool bar: the stages in pipeline order, and the search field. The stage "Train" is shown
/// only if it is part of the pipeline (`ModelTrainer::isPartOfPipeline`). GUI thread only.
class PipelineBar : public QWidget
{
    Q_OBJECT

public:
    explicit PipelineBar(Workspace& workspace, QWidget* parent = nullptr);
    QLineEdit& search() { return *m_search; }
    StageButton* button(Stage stage) const { return m_buttons[std::size_t(stage)]; }

Q_SIGNALS:
    void stageClicked(qs::Stage stage);
    void trainClicked();
    void cancelClicked();

private:
    void refresh();
    void refreshTraining();

    Workspace& m_workspace;
    std::vector<StageButton*> m_buttons;
    StageButton* m_train;
    QLineEdit* m_search;
};

} // namespace qs
