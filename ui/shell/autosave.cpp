// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/autosave.h"

#include "engine/base/log.h"
#include "engine/project/project.h"
#include "ui/frame/message_bar.h"
#include "ui/session/opened_files.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/shell/project_files.h"

#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QLocale>

namespace qs {

namespace {

constexpr int kSoonMs = 1000, kRegularMs = 30000;
/// Suffix, after the file of unsaved decisions, of the file with the steps being applied.
const QString kUnderWayEnding = QStringLiteral(".step");
const QString kOfferedEnding = QStringLiteral(".offered");
const QString kTopic = QStringLiteral("unsaved");

} // namespace

Autosave::Autosave(Workspace& workspace, const ProjectFiles& files, QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
    , m_files(files)
{
    m_soon.setSingleShot(true);
    m_soon.setInterval(kSoonMs);
    m_regular.setInterval(kRegularMs);
    m_regular.start();
    connect(&m_soon, &QTimer::timeout, this, &Autosave::keep);
    connect(&m_regular, &QTimer::timeout, this, &Autosave::keep);
    // The first step starts the timer: further steps do not delay the save.
    connect(&workspace.document(), &Document::savedChanged, this, [this] {
        if (!m_soon.isActive())
            m_soon.start();
    });
    connect(&workspace.document(), &Document::recipeToChange, this, &Autosave::note);
    // `openedPath` still names the previous model here.
    connect(&workspace.document(), &Document::modelChanged, this, &Autosave::endSteps);
}

bool Autosave::isApplied() const
{
    const Document& document = m_workspace.document();
    const bool failed
        = m_workspace.pipeline().status(Stage::Plan).state == StageStatus::State::Failed;
    return failed || (!document.isGraphStale() && !document.isStale(Stage::Plan));
}

void Autosave::note(const Recipe& next, const QString& step)
{
    if (!m_workspace.document().model())
        return;
    if (!m_steps || isApplied())
        m_steps = StepsUnderWay {{}, m_workspace.document().recipe(), {}};
    m_steps->names << (step.isEmpty() ? tr("a decision") : step);
    m_steps->after = next;
    const QString file = unsavedFileFor(m_files.openedPath()) + kUnderWayEnding;
    if (!writeSteps(*m_steps, file))
        warn("the current step cannot be recorded in " + file.toStdString());
}

void Autosave::endSteps()
{
    if (!m_steps)
        return;
    m_steps.reset();
    QFile::remove(unsavedFileFor(m_files.openedPath()) + kUnderWayEnding);
}

void Autosave::forget()
{
    m_soon.stop();
    endSteps();
    const QString file = unsavedFileFor(m_files.openedPath());
    QFile::remove(file);
    dropOffered(file);
}

void Autosave::dropOffered(const QString& file) const
{
    QFile::remove(file + kOfferedEnding);
    QFile::remove(file + kUnderWayEnding + kOfferedEnding);
}

void Autosave::keep()
{
    const Document& document = m_workspace.document();
    if (!document.model())
        return;
    const QString file = unsavedFileFor(m_files.openedPath());
    if (document.isModified()) {
        QDir().mkpath(QFileInfo(file).path());
        if (const auto kept = writeProject(m_files.current(), file.toStdString()); !kept)
            warn("unsaved decisions cannot be kept: " + kept.error().line());
    } else {
        QFile::remove(file);
    }
    if (!m_steps)
        return;
    if (!isApplied()) {
        m_soon.start();
        return;
    }
    endSteps(); // the event loop ran: the steps are applied and shown
}

/// Renames the files of a crashed session, so that saves do not replace them before the user
/// answers.
void Autosave::setAside(const QString& file) const
{
    if (!QFileInfo::exists(file) && !QFileInfo::exists(file + kUnderWayEnding))
        return;
    dropOffered(file);
    for (const QString& kept : {file, file + kUnderWayEnding})
        QFile::rename(kept, kept + kOfferedEnding);
}

void Autosave::offer(MessageBar& messages)
{
    const QString file = unsavedFileFor(m_files.openedPath());
    setAside(file);
    const QString offered = file + kOfferedEnding;
    const auto steps = readSteps(file + kUnderWayEnding + kOfferedEnding);
    const auto kept = readProject(offered.toStdString());
    const Recipe& now = m_workspace.document().recipe();
    const std::optional<Recipe> before = steps ? std::optional(steps->before)
        : kept                                 ? std::optional(kept->recipe)
                                               : std::nullopt;
    const bool isBehind = before && !(*before == now);
    const bool leavesOut = steps && !(steps->after == now);
    if (!isBehind && !leavesOut)
        return dropOffered(file);
    const QString at
        = QFileInfo::exists(offered) ? offered : file + kUnderWayEnding + kOfferedEnding;
    const QString when = QLocale().toString(QFileInfo(at).lastModified(), QLocale::ShortFormat);
    std::vector<MessageBar::Choice> choices;
    if (isBehind)
        choices.push_back(
            {tr("Bring back"),
             steps ? tr("Without: %1. One step, which can be undone").arg(steps->text())
                   : tr("One step, which can be undone"),
             [this, offered, before, steps, &messages] {
                 restore(offered, before, tr("bring back unsaved decisions"), messages);
                 if (steps)
                     messages.showMessage(MessageBar::Kind::Note, tr("Decisions are back"),
                                          tr("Left out: %1").arg(steps->text()));
             }});
    if (leavesOut)
        choices.push_back({isBehind ? tr("Bring back all") : tr("Apply again"),
                           tr("Includes the step that crashed: %1").arg(steps->text()),
                           [this, offered, steps, &messages] {
                               restore(offered, steps->after, steps->text(), messages);
                           }});
    choices.push_back(
        {tr("Drop"), tr("Discard these decisions"), [this, file] { dropOffered(file); }});
    messages.showChoices(
        MessageBar::Kind::Note, kTopic, tr("Decisions that were not saved"),
        steps ? tr("The program ended on %1 while it applied: %2").arg(when, steps->text())
              : tr("The program ended on %1 before they were saved").arg(when),
        {}, std::move(choices));
}

void Autosave::restore(const QString& file, const std::optional<Recipe>& recipe,
                       const QString& name, MessageBar& messages)
{
    const auto kept = readProject(file.toStdString());
    if (!kept && QFileInfo::exists(file)) {
        messages.showError(tr("Bringing decisions back"), kept.error());
        return;
    }
    if (kept) {
        RunSettings settings = m_workspace.document().settings();
        settings.calibrationData = kept->dataPath;
        settings.comparisonData = kept->comparisonPath;
        settings.device = kept->device;
        settings.againstOriginal = kept->againstOriginal;
        settings.allLocalTerms = kept->allLocalTerms;
        m_workspace.document().setSettings(settings);
    }
    m_workspace.change(name, recipe ? *recipe : kept->recipe);
    keep(); // before the offered file goes: the decisions are always in a file
    dropOffered(unsavedFileFor(m_files.openedPath()));
}

} // namespace qs
