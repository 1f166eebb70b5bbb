// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/pipeline/stages.h"
#include "engine/train/interrupted_training.h"
#endif

#include <QDialog>

#include <optional>

class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;

namespace qs {

class TrainingPlot;
class TrainOptions;
class Workspace;
struct TrainingChoices;

/// Asks for a training and shows it while it runs. Offers to resume a stopped training of the
/// chosen file. Closing the dialog does not stop the training; a new dialog shows the running one.
/// GUI thread only.
class TrainDialog : public QDialog
{
    Q_OBJECT

public:
    /// `file`: where the trained model is written unless the user names another file.
    TrainDialog(Workspace& workspace, const QString& file, QWidget* parent);

    TrainingChoices choices() const;

private:
    QWidget* buildFile(const QString& file);
    QWidget* buildNotes();
    void buildButtons();
    void start(bool resumes);
    void refresh();
    void refreshButtons(bool runs, const QString& problem);
    void showNotes(const QString& problem, bool isStopped);
    /// Predicts the memory of these options, and asks whether the data have labels.
    void forecast();
    void showForecast(const Result<TrainingForecast>& forecast);
    /// Looks for a stopped training of the file, and shows its options.
    void findStopped();
    /// Returns why no training can write the file; empty if one can.
    QString fileProblem() const;
    /// True if the recipe takes its training from the file.
    bool isOfRecipe() const;

    Workspace& m_workspace;
    TrainOptions* m_options;
    QLineEdit* m_file;
    QPushButton* m_browse;
    QLabel* m_problem;
    QLabel* m_note; ///< on a stopped training and the predicted memory
    TrainingPlot* m_plot;
    QLabel* m_summary;
    QProgressBar* m_progress;
    QPushButton* m_start;
    QPushButton* m_resume;
    QPushButton* m_cancel;
    QPushButton* m_close;
    TrainingSettings m_forecastFor; ///< the options of the last prediction
    QString m_forecast;
    std::optional<InterruptedTraining> m_stopped; ///< of the file, if it can be read
    bool m_wasRunning = false;
};

/// Returns a file for a trained model: one whose training was stopped and can be resumed, else one
/// that does not exist yet. It is beside the project, else beside the model.
QString freeTrainedFile(const QString& modelPath, const QString& projectPath);

} // namespace qs
