// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

class QComboBox;
class QLabel;
class QProgressBar;
class QPushButton;

namespace qs {

class Workspace;

/// Asks for the user's metric, a command, and measures both models with it. Offers the commands
/// that were measured before on this machine; runs none before *Measure* is pressed. Closing the
/// dialog does not stop a measurement. GUI thread only.
class MetricDialog : public QDialog
{
    Q_OBJECT

public:
    MetricDialog(Workspace& workspace, QWidget* parent);

private:
    void measure();
    void refresh();
    QString resultText() const;

    Workspace& m_workspace;
    QComboBox* m_command;
    QLabel* m_result;
    QLabel* m_problem;
    QProgressBar* m_progress;
    QPushButton* m_close; ///< stops a measurement
    QPushButton* m_measure;
};

} // namespace qs
