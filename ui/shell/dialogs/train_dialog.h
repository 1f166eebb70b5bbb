// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

class QCheckBox;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QSpinBox;

namespace qs {

class TrainingPlot;
class Workspace;
struct TrainingChoices;

/// Asks for a training and shows it while it runs. Closing the dialog does not stop the training; a
/// new dialog shows the running one. GUI thread only.
class TrainDialog : public QDialog
{
    Q_OBJECT

public:
    /// `file`: where the trained model is written unless the user names another file.
    TrainDialog(Workspace& workspace, const QString& file, QWidget* parent);

    TrainingChoices choices() const;

private:
    QWidget* buildFile(const QString& file);
    void buildButtons();
    void start();
    void refresh();
    /// Returns why the file cannot be written to; empty if it can.
    QString fileProblem() const;

    Workspace& m_workspace;
    QSpinBox* m_steps;
    QSpinBox* m_minutes;
    QCheckBox* m_scales;
    QLineEdit* m_file;
    QPushButton* m_browse;
    QLabel* m_problem;
    TrainingPlot* m_plot;
    QLabel* m_summary;
    QProgressBar* m_progress;
    QPushButton* m_start;
    QPushButton* m_cancel;
    QPushButton* m_close;
    bool m_wasRunning = false;
};

/// Returns a file for a trained model that does not exist yet: beside the project, else beside the
/// model.
QString freeTrainedFile(const QString& modelPath, const QString& projectPath);

} // namespace qs
