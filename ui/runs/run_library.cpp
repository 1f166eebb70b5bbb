// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/run_library.h"

#include "engine/base/files/temporary_folder.h"
#include "engine/base/log.h"
#include "engine/pipeline/compare_file.h"
#include "engine/pipeline/keys/content_keys.h"
#include "engine/project/project.h"
#include "ui/session/coalesce.h"
#include "ui/session/opened_files.h"
#include "ui/session/text.h"

#include <QDateTime>
#include <QFileInfo>

#include <algorithm>
#include <utility>

namespace qs {

RunLibrary::RunLibrary(Workspace& workspace, const OpenedFiles& files, QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
    , m_files(files)
{
    const auto& document = workspace.document();
    // Coalesced: the paths of the opened project are set later.
    connect(&document, &Document::savedChanged, this, coalesced(this, [this] { settle(); }));
    connect(&document, &Document::modelChanged, this, [this] { putSideBySide({}); });
    connect(&document, &Document::resultsChanged, this, &RunLibrary::followResult);
    connect(&workspace.pipeline(), &Pipeline::succeeded, this, [this](Stage stage) {
        if (stage == Stage::Compare)
            keepResult();
    });
    connect(&workspace.metric(), &MetricRunner::measured, this, &RunLibrary::addMeasured);
    connect(&workspace.pipeline().jobs(), &JobRunner::progressed, this, &RunLibrary::followReading);
    connect(&document, &Document::graphEdited, this, [this] {
        if (const ShownRunPtr run = m_workspace.shownRun())
            show(std::size_t(m_folders.indexOf(run->folder)));
    });
}

QString RunLibrary::folder() const
{
    if (!m_project.isEmpty())
        return toQString(runsFolderOf(m_project.toStdString()));
    return m_unsaved ? m_unsaved->folder() : QString();
}

QString RunLibrary::writableFolder()
{
    if (m_project.isEmpty() && !m_unsaved)
        m_unsaved = std::make_unique<UnsavedRuns>(m_files.openedPath());
    return folder();
}

bool RunLibrary::canWrite() const
{
    return !m_files.isReadOnly();
}

/// Updates the runs after another model or project was opened.
void RunLibrary::settle()
{
    const int model = m_workspace.document().modelNumber();
    const QString project = m_files.projectPath(), opened = m_files.openedPath();
    if (model == m_model && project == m_project)
        return;
    if (!project.isEmpty() || opened != m_opened)
        m_unsaved.reset();
    if (model != m_model) {
        m_before.reset();
        if (!m_seen)
            m_now.reset();
    }
    m_model = model;
    m_movedFrom.clear();
    m_project = project;
    m_opened = opened;
    if (project.isEmpty() && UnsavedRuns::areLeft(opened))
        writableFolder(); // runs of a crashed window
    refresh();
}

void RunLibrary::followProject()
{
    const QString project = m_files.projectPath();
    if (project == m_project)
        return;
    const QString before = folder();
    m_movedFrom = before;
    m_project = project;
    m_opened = m_files.openedPath();
    if (!before.isEmpty())
        report(tr("Keeping the runs"), copyRuns(before.toStdString(), folder().toStdString()));
    m_unsaved.reset();
    putSideBySide({});
    refresh();
}

void RunLibrary::refresh()
{
    m_runs = listRuns(folder().toStdString());
    if (folder().isEmpty())
        m_runs.clear();
    Q_EMIT runsChanged();
}

const RunEntry* RunLibrary::tryRun(const QString& folder) const
{
    for (const RunEntry& run : m_runs)
        if (toQString(run.folder) == folder)
            return &run;
    return nullptr;
}

QString RunLibrary::standing(const RunEntry& run) const
{
    const auto& document = m_workspace.document();
    if (!run.problem.empty())
        return tr("damaged");
    if (document.model() && run.modelSha256 != document.model()->info().sha256)
        return tr("another model");
    if (!run.foreignPath.empty())
        return tr("another program");
    return run.label.key == document.keys().comparison ? tr("current decisions")
                                                       : tr("other decisions");
}

/// A new current result replaces a shown run.
void RunLibrary::followResult()
{
    const auto& document = m_workspace.document();
    const ComparisonPtr comparison = document.comparison();
    if (comparison == m_seen)
        return;
    m_seen = comparison;
    if (!comparison || document.isStale(Stage::Compare))
        return;
    showCurrent();
    m_before = std::exchange(m_now, document.recipe());
}

/// Stores a new comparison as a run unless it is stored already. Not called for restored results:
/// they were stored when they were made.
void RunLibrary::keepResult()
{
    const auto& document = m_workspace.document();
    showCurrent();
    if (!document.comparison() || document.isStale(Stage::Compare) || !canWrite())
        return;
    for (const RunEntry& run : m_runs)
        if (run.label.key == document.keys().comparison)
            return;
    Keeping keeping;
    keeping.label.name = automaticName().toStdString();
    keeping.label.isNamed = false;
    keeping.isAutomatic = true;
    keep(keeping);
}

/// Adds the user's metric to the run of the current decisions.
void RunLibrary::addMeasured()
{
    const Key& key = m_workspace.document().keys().comparison;
    const auto evaluation = m_workspace.document().evaluationOf(m_workspace.document().keys());
    const auto run = std::find_if(m_runs.begin(), m_runs.end(),
                                  [&](const RunEntry& kept) { return kept.label.key == key; });
    if (!evaluation || run == m_runs.end() || !canWrite())
        return;
    m_workspace.pipeline().jobs().run(
        Lane::Engine, QStringLiteral("addMetric%1").arg(++m_jobs),
        [run = *run, evaluation](JobContext&) { return addEvaluation(run, *evaluation); }, this,
        [this](const Result<void>& done) {
            report(tr("Adding the metric to the run"), done);
            refresh();
        });
}

QString RunLibrary::automaticName() const
{
    const Recipe& recipe = m_workspace.document().recipe();
    const GraphPtr& model = m_workspace.document().model();
    const std::string change = m_before && model
        ? changeInWords(*m_before, recipe, RecordedTitles(*model))
        : std::string();
    return toQString(change.empty() ? recipeInWords(recipe) : change);
}

bool RunLibrary::keepCurrent(const QString& name)
{
    const auto& document = m_workspace.document();
    if (!document.comparison() || document.isStale(Stage::Compare) || !canWrite())
        return false;
    // It may be stored already under its automatic name.
    for (const RunEntry& run : m_runs)
        if (run.label.key == document.keys().comparison && !run.label.isNamed) {
            rename(toQString(run.folder), name);
            return true;
        }
    Keeping keeping;
    keeping.label.name = name.toStdString();
    keep(keeping);
    return true;
}

void RunLibrary::keep(const Keeping& keeping)
{
    RunLabel label = keeping.label;
    label.key = m_workspace.document().keys().comparison;
    label.created = utcText(QDateTime::currentSecsSinceEpoch());
    label.source = m_files.openedPath().toStdString();
    const QString into = writableFolder();
    auto& pipeline = m_workspace.pipeline();
    ExportRequest request = pipeline.exportRequest();
    request.forms.clear();
    pipeline.jobs().run(
        Lane::Engine, QStringLiteral("keepRun%1").arg(++m_jobs),
        [engine = &pipeline.engine(), request, label,
         folder = into.toStdString()](JobContext& job) mutable -> Result<RunEntry> {
            QS_TRY(const TemporaryFolder scratch, TemporaryFolder::create("run"));
            request.folder = scratch.path();
            QS_CHECK(engine->exportTo(request, job));
            QS_TRY(RunEntry run, keepRunFrom(folder, scratch.path(), label));
            QS_CHECK(trimRuns(folder));
            return run;
        },
        this,
        [this, into, isAutomatic = keeping.isAutomatic](const Result<RunEntry>& run) {
            kept(run, into, isAutomatic);
        });
}

void RunLibrary::kept(const Result<RunEntry>& run, const QString& into, bool isAutomatic)
{
    // The project was saved under another path meanwhile.
    if (run && into == m_movedFrom && into != folder() && canWrite() && !folder().isEmpty()) {
        const auto copied = keepRunFrom(folder().toStdString(), run->folder, run->label);
        if (!copied)
            Q_EMIT failed(tr("Keeping the run"), copied.error());
    }
    if (!run && isAutomatic)
        warn("the result is not kept as a run: " + run.error().line());
    else if (!run && run.error().code == ErrorCode::Cancelled)
        Q_EMIT told(tr("Cancelled: no run was added"));
    else if (!run)
        Q_EMIT failed(tr("Keeping the run"), run.error());
    else if (!isAutomatic)
        Q_EMIT told(tr("Kept as the run %1").arg(toQString(run->label.name)));
    refresh();
}

void RunLibrary::addFile(const QString& path)
{
    const auto& document = m_workspace.document();
    if (!document.edited() || !canWrite())
        return;
    // On the same samples as the other runs.
    const RunSettings& settings = document.settings();
    FileCompareRequest request {document.edited()->file, path.toStdString(), settings.compared(),
                                comparedCut(settings, document.recipe().calibration)};
    RunLabel label;
    label.name = QFileInfo(path).completeBaseName().toStdString();
    label.source = request.quantized;
    const QString into = writableFolder();
    const QString tag = QStringLiteral("addFile%1").arg(++m_jobs);
    m_adding << tag;
    Q_EMIT told(tr("Comparing %1 with the model…").arg(QFileInfo(path).fileName()));
    m_workspace.pipeline().jobs().run(
        Lane::Engine, tag,
        [request, label, folder = into.toStdString()](JobContext& job) -> Result<RunEntry> {
            QS_TRY(FileCompareResult compared, compareWithFile(request, job));
            return keepRun(folder, {std::move(compared.document), {}, {}}, label);
        },
        this,
        [this, into, tag](const Result<RunEntry>& run) {
            m_adding.removeAll(tag);
            kept(run, into, false);
        });
}

void RunLibrary::cancel()
{
    for (const QString& tag : m_adding)
        m_workspace.pipeline().jobs().cancel(tag);
}

void RunLibrary::report(const QString& what, const Result<void>& done)
{
    if (!done)
        Q_EMIT failed(what, done.error());
}

void RunLibrary::rename(const QString& runFolder, const QString& name)
{
    const RunEntry* run = tryRun(runFolder);
    if (!run || !canWrite())
        return;
    putSideBySide({}); // its folder changes
    report(tr("Renaming the run"), renameRun(folder().toStdString(), *run, name.toStdString()));
    refresh();
}

void RunLibrary::setNote(const QString& runFolder, const QString& note)
{
    const RunEntry* run = tryRun(runFolder);
    if (!run || !canWrite())
        return;
    report(tr("Adding the note"), noteRun(*run, note.toStdString()));
    refresh();
}

void RunLibrary::remove(const QString& runFolder)
{
    const RunEntry* run = tryRun(runFolder);
    if (!run || !canWrite())
        return;
    putSideBySide({});
    report(tr("Deleting the run"), removeRun(folder().toStdString(), *run));
    refresh();
}

void RunLibrary::useDecisions(const QString& runFolder)
{
    const RunEntry* run = tryRun(runFolder);
    if (!run || !run->problem.empty() || !run->foreignPath.empty())
        return;
    auto recipe = readRecipe(run->folder + "/recipe.json");
    if (!recipe) {
        Q_EMIT failed(tr("Using the run's decisions"), recipe.error());
        return;
    }
    showCurrent();
    m_workspace.change(tr("use the decisions of %1").arg(toQString(run->label.name)),
                       std::move(*recipe));
}

} // namespace qs
