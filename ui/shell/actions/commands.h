// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/jobs/pipeline.h"

#include <QObject>
#include <QStringList>

#include <optional>
#include <string>

namespace qs {

class MainWindow;

/// True if each decision triggers a comparison on all data (a setting; on by default).
bool wantsComparisonAfterEach();

/// Implements the window's actions. Shows the dialogs; the workspace does the work. GUI
/// thread only.
class Commands : public QObject
{
    Q_OBJECT

public:
    explicit Commands(MainWindow& window);

    void stageClicked(Stage stage);
    /// Shows `CalibrateDialog` and applies its choices; false if cancelled.
    bool askCalibration();
    void runAll();
    /// Updates the list of recent files, with the packs that they need.
    void refreshRecent();

Q_SIGNALS:
    /// The user wants a new, empty backend.
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
    /// Adds to the backend's menu the switch whether a recipe must name a backend.
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
