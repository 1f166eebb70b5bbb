// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QWidget>

#include <functional>
#include <vector>

class QAction;
class QLabel;

namespace qs {

class GuideRow;
class Workspace;

/// One step of the guide: its text, its action, and the test that it is done.
struct GuideStep
{
    QString text;
    QAction* action; ///< borrowed
    std::function<bool(Workspace&)> isDone;
};

/// The first steps as a list: steps that are done get a tick, a click runs a step.
/// GUI thread only.
class GuidePanel : public QWidget
{
    Q_OBJECT

public:
    GuidePanel(Workspace& workspace, std::vector<GuideStep> steps, QWidget* parent);
    int doneCount() const;

Q_SIGNALS:
    void closeWanted();
    /// All steps are done.
    void completed();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void refresh();

    Workspace& m_workspace;
    std::vector<GuideStep> m_steps;
    std::vector<GuideRow*> m_rows;
    QLabel* m_title;
    int m_done = 0; ///< steps that were done at the last refresh
};

} // namespace qs
