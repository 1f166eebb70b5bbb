// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/jobs/pipeline.h"

#include <QObject>
#include <QStringList>

#include <optional>
#include <string>

namespace qs {

class MainWindow;

/// Whether the user wants all data compared again after each decision, by itself; yes unless said
/// otherwise.
bool wantsComparisonAfterEach();

/// What the window's actions do. Dialogs are asked here; the work itself is the workspace's. GUI
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
    /// Lists the recent files anew, with the packs that they need.
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
