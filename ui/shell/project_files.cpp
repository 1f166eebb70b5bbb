// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/project_files.h"

#include "engine/base/files/path_claim.h"
#include "engine/base/log.h"
#include "engine/project/moved_files.h"
#include "engine/project/outside_paths.h"
#include "ui/frame/message_bar.h"
#include "ui/runs/run_library.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/shell/autosave.h"
#include "ui/shell/dialogs/run_dialogs.h"
#include "ui/shell/main_window.h"
#include "ui/shell/moved_question.h"
#include "ui/shell/outside_question.h"
#include "ui/shell/training_question.h"
#include "ui/shell/window_state.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QLockFile>
#include <QMessageBox>
#include <QPushButton>
#include <QStatusBar>

#include <utility>

namespace qs {

namespace {

const QString kProjectEnding = QStringLiteral(".project.json");
const QString kSearchTag = QStringLiteral("search");

/// Returns the folder of a project's results: "net.results" beside "net.json".
QString resultsFolderOf(const QString& project)
{
    const QFileInfo file(project);
    return file.dir().filePath(file.completeBaseName() + QStringLiteral(".results"));
}

} // namespace

ProjectFiles::ProjectFiles(MainWindow& window)
    : QObject(&window)
    , m_window(window)
{
    const auto& pipeline = window.workspace().pipeline();
    connect(&pipeline, &Pipeline::succeeded, this, [this](Stage stage) {
        if (stage == Stage::Open)
            takeOver();
        else if (stage == Stage::Plan)
            showKept();
    });
    connect(&pipeline, &Pipeline::failed, this, [this](Stage stage, const Error& error) {
        if (stage != Stage::Open)
            return;
        const auto opening = std::exchange(m_opening, std::nullopt);
        const bool moved = error.code == ErrorCode::NotFound && opening && !opening->isReload
            && !opening->project.isEmpty() && opening->movedFrom.empty();
        if (moved)
            QMetaObject::invokeMethod(
                this, [this, path = opening->project] { askForModel(path); }, Qt::QueuedConnection);
    });
    connect(&pipeline, &Pipeline::notAdopted, this, [this](const QString& why) {
        m_window.statusBar()->showMessage(tr("The saved results are not shown: %1").arg(why),
                                          12000);
    });
}

ProjectFiles::~ProjectFiles() = default;

bool ProjectFiles::lock(const QString& project)
{
    if (m_lock && project == m_project && !m_readOnly)
        return true;
    auto lock = std::make_unique<QLockFile>(project + QStringLiteral(".lock"));
    lock->setStaleLockTime(0); // a lock is stale only if its process has ended
    // A folder without write permission cannot hold a lock: saving reports the problem.
    if (!lock->tryLock(0) && lock->error() == QLockFile::LockFailedError)
        return false;
    m_lock = std::move(lock);
    return true;
}

QString ProjectFiles::projectName() const
{
    QString file = QFileInfo(m_project).fileName();
    for (const QString& ending : {kProjectEnding, QStringLiteral(".json")})
        if (file.endsWith(ending, Qt::CaseInsensitive) && file.size() > ending.size())
            return file.chopped(ending.size());
    return file;
}

void ProjectFiles::open(const QString& path, const Recipe& recipe)
{
    auto& pipeline = m_window.workspace().pipeline();
    const std::string file = path.toStdString();
    ++m_searchNumber;
    pipeline.jobs().cancel(kSearchTag);
    removeAbandonedOnce(QFileInfo(path).absolutePath().toStdString());
    if (isResult(file)) {
        auto stored = readStoredRun(file);
        if (!stored)
            return refuse(stored.error());
        m_opening = Opening {path, {}};
        m_opening->settings = RunSettings {stored->calibrationData, stored->comparisonData, "auto",
                                           stored->againstOriginal, stored->allLocalTerms};
        pipeline.open(toQString(stored->modelPath), stored->recipe);
        m_opening->stored = std::move(*stored);
        return;
    }
    if (!isProjectFile(file)) {
        m_opening = Opening {path, {}};
        pipeline.open(path, recipe);
        return;
    }
    auto project = readProject(file);
    if (!project)
        return refuse(project.error());
    if (!mayReadOutside(m_window.messageBar(), path, pathsOutside(*project, file),
                        [this, path, recipe] { open(path, recipe); }))
        return;
    findAndOpen(path, std::move(*project));
}

template<class Work, class Done>
void ProjectFiles::search(const QString& text, Work work, Done done)
{
    m_window.statusBar()->showMessage(text);
    m_window.workspace().pipeline().jobs().run(
        Lane::Pool, kSearchTag, std::move(work), this,
        [this, number = ++m_searchNumber, done = std::move(done)](auto found) {
            if (number != m_searchNumber)
                return;
            m_window.statusBar()->clearMessage();
            return found ? done(std::move(*found)) : refuse(found.error());
        });
}

void ProjectFiles::findAndOpen(const QString& path, Project project)
{
    const QString place = toQString(project.modelPath);
    if (QFileInfo::exists(place))
        return openProject(path, std::move(project), place, false);
    search(
        tr("Looking for %1 …").arg(QFileInfo(place).fileName()),
        [=](JobContext& job) { return findModel(project, path.toStdString(), job); },
        [this, path, project](const std::string& found) {
            openProject(path, project, toQString(found), false);
        });
}

void ProjectFiles::openProject(const QString& path, Project project, const QString& model,
                               bool isOther)
{
    m_opening = Opening {path, path};
    // Missing data are reported after the model is opened.
    m_opening->settings = settingsOf(project, path.toStdString());
    m_opening->windowState = QByteArray::fromStdString(project.windowState);
    m_opening->history = std::move(project.history);
    m_opening->isOther = isOther;
    if (!model.isEmpty() && model.toStdString() != project.modelPath)
        m_opening->movedFrom = project.modelPath;
    m_window.workspace().pipeline().open(model.isEmpty() ? toQString(project.modelPath) : model,
                                         project.recipe);
    if (!project.resultFolder.empty() && isResult(project.resultFolder))
        if (auto stored = readStoredRun(project.resultFolder))
            m_opening->stored = std::move(*stored);
}

void ProjectFiles::askForModel(const QString& path)
{
    auto project = readProject(path.toStdString());
    if (!project)
        return refuse(project.error());
    const QString chosen = askWhereModelIs(&m_window, path, toQString(project->modelPath));
    if (chosen.isEmpty())
        return;
    search(
        tr("Reading %1 …").arg(QFileInfo(chosen).fileName()),
        [=](JobContext& job) { return isModelOf(*project, chosen.toStdString(), job); },
        [this, path, project = *project, chosen](bool same) {
            if (same || mayOpenOtherModel(&m_window, chosen))
                openProject(path, project, chosen, !same);
        });
}

void ProjectFiles::askForData(const QString& was)
{
    m_window.messageBar().showChoices(MessageBar::Kind::Warning, QStringLiteral("movedData"),
                                      tr("The project's data were not found"), was, {},
                                      {{tr("Choose…"), tr("Choose their new path"), [this] {
                                            const QString chosen
                                                = askWhereDataAre(&m_window, m_project);
                                            if (chosen.isEmpty())
                                                return;
                                            auto& document = m_window.workspace().document();
                                            RunSettings settings = document.settings();
                                            settings.calibrationData = chosen.toStdString();
                                            document.setSettings(settings);
                                        }}});
}

void ProjectFiles::rememberModel(const QString& path)
{
    auto project = readProject(path.toStdString());
    if (!project)
        return;
    project->modelPath = m_window.workspace().document().model()->info().path;
    if (const auto written = writeProject(*project, path.toStdString()); !written)
        warn("the model's new path was not saved: " + written.error().line());
    else if (const auto kept
             = confirmPaths(path.toStdString(), pathsOutside(*project, path.toStdString()));
             !kept)
        warn("the model's new path will be asked for again: " + kept.error().line());
}

void ProjectFiles::refuse(const Error& error)
{
    auto opening = std::exchange(m_opening, std::nullopt);
    Q_EMIT m_window.workspace().pipeline().failed(Stage::Open, error);
    m_opening = std::move(opening);
}

void ProjectFiles::reload()
{
    auto& workspace = m_window.workspace();
    const auto& document = workspace.document();
    m_opening = Opening {m_opened, m_project};
    m_opening->settings = document.settings();
    m_opening->history = historyOf(workspace.undoStack(), document);
    m_opening->isReload = true;
    workspace.pipeline().open(toQString(document.model()->info().path), Recipe(document.recipe()));
}

void ProjectFiles::takeOver()
{
    auto& workspace = m_window.workspace();
    Opening opening
        = std::exchange(m_opening, std::nullopt)
              .value_or(Opening {toQString(workspace.document().model()->info().path), {}});
    m_opened = opening.opened;
    m_project = opening.project;
    m_stored = std::move(opening.stored);
    if (m_project.isEmpty() || m_project != opening.project || !opening.isReload) {
        m_readOnly = false;
        m_lock.reset();
        m_readOnly = !m_project.isEmpty() && !lock(m_project);
    }
    if (m_readOnly) // queued: messages about the previous model are removed first
        QMetaObject::invokeMethod(
            this,
            [this] {
                m_window.messageBar().showMessage(
                    MessageBar::Kind::Warning, tr("Another window has this project open"),
                    tr("It is read-only here: save it under another name to keep decisions"));
            },
            Qt::QueuedConnection);
    if (!opening.movedFrom.empty() && !opening.isOther && !m_readOnly)
        rememberModel(m_project);
    if (opening.windowState)
        applyWindowState(workspace.styleRules(), m_window.graphPane(), *opening.windowState);
    setSettings(opening.settings);
    restoreHistory(workspace.undoStack(), workspace.document(), opening.history);
    if (opening.isOther)
        workspace.document().markUnsaved();
    else if (!opening.isReload)
        workspace.document().markSaved(!m_project.isEmpty());
    const QString data = toQString(workspace.document().settings().calibrationData);
    if (!m_project.isEmpty() && data != QStringLiteral("sample") && !QFileInfo::exists(data))
        QMetaObject::invokeMethod(
            this, [this, data] { askForData(data); }, Qt::QueuedConnection);
    workspace.document().notices().post({Notice::Saved}); // the project changed
}

void ProjectFiles::setSettings(const std::optional<RunSettings>& wanted)
{
    auto& document = m_window.workspace().document();
    RunSettings settings = wanted.value_or(document.settings());
    // The opened file names no data. Data to compare on are the user's choice (`CalibrateDialog`).
    if (settings.calibrationData.empty())
        settings.calibrationData
            = guessCalibrationData(toQString(document.model()->info().path)).toStdString();
    document.setSettings(settings);
}

void ProjectFiles::showKept()
{
    if (!m_stored)
        return;
    m_window.workspace().pipeline().adopt(*m_stored);
    m_stored.reset();
}

bool ProjectFiles::save()
{
    return m_project.isEmpty() || m_readOnly ? saveAs() : saveTo(m_project);
}

bool ProjectFiles::saveAs()
{
    const auto& model = m_window.workspace().document().model();
    if (!model)
        return false;
    const QFileInfo file(toQString(model->info().path));
    const QString proposed = m_project.isEmpty()
        ? file.dir().filePath(file.completeBaseName() + kProjectEnding)
        : m_project;
    const QString path = QFileDialog::getSaveFileName(&m_window, tr("Save project"), proposed,
                                                      QStringLiteral("*.json"));
    return !path.isEmpty() && saveTo(path);
}

Project ProjectFiles::current() const
{
    auto& workspace = m_window.workspace();
    const auto& document = workspace.document();
    Project project;
    project.modelPath = document.model()->info().path;
    project.modelSha256 = document.model()->info().sha256;
    project.dataPath = document.settings().calibrationData;
    project.comparisonPath = document.settings().comparisonData;
    project.device = document.settings().device;
    project.againstOriginal = document.settings().againstOriginal;
    project.allLocalTerms = document.settings().allLocalTerms;
    project.recipe = document.recipe();
    project.history = historyOf(workspace.undoStack(), document);
    project.windowState = windowStateOf(workspace.styleRules(), m_window.graphPane()).toStdString();
    return project;
}

bool ProjectFiles::saveTo(const QString& path)
{
    if (!lock(path)) {
        m_window.messageBar().showError(
            tr("Saving the project"),
            makeError(ErrorCode::Io, tr("another window has it open").toStdString())
                .inFile(path.toStdString())
                .withHint(tr("save it under another name").toStdString()));
        return false;
    }
    auto& workspace = m_window.workspace();
    Project project = current();
    const QString results = resultsFolderOf(path);
    if (workspace.pipeline().keepResults(results))
        project.resultFolder = results.toStdString();
    if (const auto written = writeProject(project, path.toStdString()); !written) {
        m_window.messageBar().showError(tr("Saving the project"), written.error());
        return false;
    }
    // Saving confirms the files outside of the project's folder.
    if (const auto kept
        = confirmPaths(path.toStdString(), pathsOutside(project, path.toStdString()));
        !kept)
        warn("files outside the project's folder will be asked about again: "
             + kept.error().line());
    m_window.autosave().forget();
    m_project = m_opened = path;
    m_readOnly = false;
    m_window.runs().followProject();
    workspace.document().markSaved(true);
    return true;
}

bool ProjectFiles::mayLeave()
{
    if (!mayEndTraining(m_window.workspace(), &m_window))
        return false;
    if (!m_window.workspace().document().isModified()) {
        m_window.autosave().endSteps();
        return true;
    }
    QMessageBox box(
        QMessageBox::Question, tr("Unsaved decisions"),
        tr("The decisions on %1 are not saved.").arg(m_window.workspace().document().title()),
        QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, &m_window);
    box.setObjectName(QStringLiteral("unsavedBox"));
    box.setInformativeText(
        tr("A project keeps the model's path, every decision, the data and the results."));
    box.button(QMessageBox::Save)->setText(tr("Save project"));
    box.setDefaultButton(QMessageBox::Save);
    const int answer = box.exec();
    if (answer == QMessageBox::Discard)
        m_window.autosave().forget();
    if (answer != QMessageBox::Save)
        return answer == QMessageBox::Discard;
    if (!save())
        return false;
    m_window.workspace().pipeline().waitForKept();
    return true;
}

} // namespace qs
