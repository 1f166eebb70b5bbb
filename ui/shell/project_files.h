// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/configure/recipe.h"
#ifndef Q_MOC_RUN
#include "engine/pipeline/run_settings.h"
#include "engine/project/project.h"
#include "engine/result/stored_run.h"
#endif
#include "ui/session/opened_files.h"

#include <QObject>
#include <QString>

#include <memory>
#include <optional>

class QLockFile;

namespace qs {

class MainWindow;
struct Error;

/// Opens and saves a model, a project or a result folder, and asks about unsaved
/// decisions. GUI thread only.
class ProjectFiles : public QObject, public OpenedFiles
{
    Q_OBJECT

public:
    explicit ProjectFiles(MainWindow& window);
    ~ProjectFiles() override;

    /// Opens a model, or the model of a project or a result folder. `recipe`: the first recipe of a
    /// model. Shows the results of a project or folder if model, decisions and data are unchanged;
    /// else the status line gives the reason.
    void open(const QString& path, const Recipe& recipe = defaultRecipe());
    /// Reads the model's file again; decisions, data and project stay.
    void reload();
    const QString& openedPath() const override { return m_opened; }
    const QString& projectPath() const override { return m_project; }
    /// The project's name as the title shows it; empty without one.
    QString projectName() const;

    /// The open model and decisions as a project, without results.
    Project current() const;
    bool isReadOnly() const override { return m_readOnly; }

    /// Saves to the project's file; asks for a file if the work has none. False if the user
    /// cancelled or it failed (with a message).
    bool save();
    bool saveAs();
    /// Saves to this file without asking.
    bool saveTo(const QString& path);
    /// Asks what to do with unsaved decisions, if there are any. True: continue.
    bool mayLeave();

private:
    /// A file that is being opened. Until its model is opened, the previous model keeps its
    /// project.
    struct Opening
    {
        QString opened, project;
        std::optional<RunSettings> settings {}; ///< else they are guessed
        std::optional<StoredRun> stored {}; ///< results to show after planning
        std::optional<QByteArray> windowState {};
        DecisionHistory history {};
        bool isReload = false; ///< unsaved decisions stay unsaved
        std::string movedFrom {}; ///< the model's path in the project, if it moved; else ""
        bool isOther = false; ///< the user chose another model than the project's
    };
    /// Opens the project; if its model is not at its path, searches for it in the background first.
    /// The next opening ends the search.
    void findAndOpen(const QString& path, Project project);
    /// `model`: the present place of the project's model.
    void openProject(const QString& path, Project project, const QString& model, bool isOther);
    /// Asks for the new place of a project's model; once for each opening.
    void askForModel(const QString& path);
    /// Runs `work` on a pool thread, with `text` in the status line. Calls `done` with the result
    /// unless another file is opened meanwhile; reports errors.
    template<class Work, class Done>
    void search(const QString& text, Work work, Done done);
    /// Reports that the data are missing, with a button to choose them.
    void askForData(const QString& was);
    /// Stores the model's new path in the project, so that the question does not come again.
    void rememberModel(const QString& path);
    /// Reports that a file was not opened; other files being opened continue.
    void refuse(const Error& error);
    void takeOver();
    void setSettings(const std::optional<RunSettings>& wanted);
    void showKept();
    /// Takes the project's lock and keeps it until another lock is taken; false if another window
    /// has it.
    bool lock(const QString& project);

    MainWindow& m_window;
    std::unique_ptr<QLockFile> m_lock; ///< of `m_project`
    bool m_readOnly = false;
    QString m_opened, m_project;
    std::optional<Opening> m_opening;
    int m_searchNumber = 0; ///< of the current search
    std::optional<StoredRun> m_stored; ///< of the open file, until the model is planned
};

} // namespace qs
