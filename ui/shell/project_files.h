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

/// What the window opens and saves: a model, a project, or the folder of a result; and whether
/// unsaved decisions may be left. GUI thread only.
class ProjectFiles : public QObject, public OpenedFiles
{
    Q_OBJECT

public:
    explicit ProjectFiles(MainWindow& window);
    ~ProjectFiles() override;

    /// Opens a model, or what a project or a result folder names. A recipe given here is where a
    /// model starts from. Results that belong to a project or folder are shown again where model,
    /// decisions and data are as they were; else the status line says why not.
    void open(const QString& path, const Recipe& recipe = defaultRecipe());
    /// Reads the model's file again; decisions, data and project stay.
    void reload();
    const QString& openedPath() const override { return m_opened; }
    const QString& projectPath() const override { return m_project; }
    /// The project's name as the title shows it; empty without one.
    QString projectName() const;

    /// What is open as a project, without results.
    Project current() const;
    bool isReadOnly() const override { return m_readOnly; }

    /// To the project's own file; asks for one where there is none. False where the user changed
    /// their mind or it failed (which a message says).
    bool save();
    bool saveAs();
    /// To this file, without asking.
    bool saveTo(const QString& path);
    /// Asks what to do with unsaved decisions, where there are any. True: go on.
    bool mayLeave();

private:
    /// What is being opened, until its model is there: what is open till then keeps its project.
    struct Opening
    {
        QString opened, project;
        std::optional<RunSettings> settings {}; ///< else they are guessed
        std::optional<StoredRun> stored {}; ///< results to show once the model is planned
        std::optional<QByteArray> windowState {};
        DecisionHistory history {};
        bool isReload = false; ///< what was not saved is not saved afterwards either
        std::string movedFrom {}; ///< where the project says that its model is; "" = there it is
        bool isOther = false; ///< the model is another one than the project's, wittingly
    };
    /// Looks for the project's model where it is not at its place, beside the window's work, and
    /// opens the project. The next opening ends the search.
    void findAndOpen(const QString& path, Project project);
    /// `model`: where the project's model is by now.
    void openProject(const QString& path, Project project, const QString& model, bool isOther);
    /// Asks for the new place of a project's model; once for each opening.
    void askForModel(const QString& path);
    /// Reads files on a pool thread, which the status line says; `done` gets the result unless
    /// something else is opened meanwhile. Errors are refused here.
    template<class Work, class Done>
    void search(const QString& text, Work work, Done done);
    /// Says that the data are nowhere, with a button to choose them.
    void askForData(const QString& was);
    /// Stores the new place in the project, so that the question does not come again.
    void rememberModel(const QString& path);
    /// Nothing is opened: what is being opened besides goes on.
    void refuse(const Error& error);
    void takeOver();
    void setSettings(const std::optional<RunSettings>& wanted);
    void showKept();
    /// Whether this window may write the project; holds it until another is taken.
    bool lock(const QString& project);

    MainWindow& m_window;
    std::unique_ptr<QLockFile> m_lock; ///< of `m_project`
    bool m_readOnly = false;
    QString m_opened, m_project;
    std::optional<Opening> m_opening;
    int m_searchNumber = 0; ///< of the search whose result is waited for
    std::optional<StoredRun> m_stored; ///< of what is open, until the model is planned
};

} // namespace qs
