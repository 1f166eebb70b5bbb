// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/jobs/pipeline.h"

#include <QObject>
#include <QStringList>

#include <optional>
#include <string>

namespace qs {

class MainWindow;

/// Whether each decision triggers a comparison on all data (a setting; on by default).
bool wantsComparisonAfterEach();

/// Implements the window's actions. Shows the dialogs; the workspace does the work. GUI
/// thread only.
class Commands : public QObject
{
    Q_OBJECT

public:
    explicit Commands(MainWindow& window);

    void stageClicked(Stage stage);
    /// Sets data beside the model as a first guess.
    bool askCalibration();
    void runAll();
    /// Updates the list of recent files, with the packs that they need.
    void refreshRecent();

Q_SIGNALS:
    /// A target of the user's own is to be made, from nothing.
    void newBackendWanted();

private:
    void connectFile();
    void connectEdit();
    void connectView();
    void connectGraph();
    void connectRecipe();
    void connectRun();
    void connectWindow();
    void openDialog();
    void saveRecipe();
    void openRecipe();
    void savePicture();
    void addRecent(const QString& path);
    void chooseBackend();
    /// Whether a recipe that names no backend is an error: of the backend's menu.
    void addRequirement(QMenu& menu);
    void askExport();
    void newQConfig();
    void cyclePrecision();
    void assignSelection(const std::optional<std::string>& name);
    void selectWorst(int direction);
    void walk(bool down);

    MainWindow& m_window;
    QStringList m_recent;
};

} // namespace qs
