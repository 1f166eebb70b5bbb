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

/// One step of the job: what to do, the action that does it, and how to see that it is done.
struct GuideStep
{
    QString text;
    QAction* action; ///< borrowed
    std::function<bool(Workspace&)> isDone;
};

/// The first steps as a quiet list: what is done is ticked off by itself, a click does the step.
/// GUI thread only.
class GuidePanel : public QWidget
{
    Q_OBJECT

public:
    GuidePanel(Workspace& workspace, std::vector<GuideStep> steps, QWidget* parent);
    int doneCount() const;

Q_SIGNALS:
    void closeWanted();
    /// The last step that was left is done.
    void completed();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void refresh();

    Workspace& m_workspace;
    std::vector<GuideStep> m_steps;
    std::vector<GuideRow*> m_rows;
    QLabel* m_title;
    int m_done = 0; ///< when it was looked at last
};

} // namespace qs
