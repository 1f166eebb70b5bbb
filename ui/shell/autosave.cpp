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
    // The first step starts the clock: steps that follow each other fast do not put it off.
    connect(&workspace.document(), &Document::savedChanged, this, [this] {
        if (!m_soon.isActive())
            m_soon.start();
    });
}

void Autosave::forget()
{
    m_soon.stop();
    const QString file = unsavedFileFor(m_files.openedPath());
    QFile::remove(file);
    QFile::remove(file + kOfferedEnding);
}

void Autosave::keep()
{
    const Document& document = m_workspace.document();
    if (!document.model())
        return;
    const QString file = unsavedFileFor(m_files.openedPath());
    if (!document.isModified()) {
        QFile::remove(file);
        return;
    }
    QDir().mkpath(QFileInfo(file).path());
    if (const auto kept = writeProject(m_files.current(), file.toStdString()); !kept)
        warn("unsaved decisions cannot be kept: " + kept.error().line());
}

void Autosave::offer(MessageBar& messages)
{
    const QString file = unsavedFileFor(m_files.openedPath());
    const QString offered = file + kOfferedEnding;
    // What is kept from now on does not replace what nobody has answered yet.
    if (QFileInfo::exists(file)) {
        QFile::remove(offered);
        QFile::rename(file, offered);
    }
    if (!QFileInfo::exists(offered))
        return;
    const auto kept = readProject(offered.toStdString());
    if (!kept || kept->recipe == m_workspace.document().recipe()) {
        QFile::remove(offered);
        return;
    }
    const QString when
        = QLocale().toString(QFileInfo(offered).lastModified(), QLocale::ShortFormat);
    messages.showChoices(
        MessageBar::Kind::Note, kTopic, tr("Decisions that were not saved"),
        tr("The program ended on %1 before they were saved").arg(when), {},
        {{tr("Bring back"), tr("One step, which can be undone"),
          [this, offered, &messages] { restore(offered, messages); }},
         {tr("Drop"), tr("They are not wanted any more"), [offered] { QFile::remove(offered); }}});
}

void Autosave::restore(const QString& file, MessageBar& messages)
{
    auto kept = readProject(file.toStdString());
    if (!kept) {
        messages.showError(tr("Bringing decisions back"), kept.error());
        return;
    }
    RunSettings settings = m_workspace.document().settings();
    settings.calibrationData = kept->dataPath;
    settings.comparisonData = kept->comparisonPath;
    settings.device = kept->device;
    settings.againstOriginal = kept->againstOriginal;
    m_workspace.document().setSettings(settings);
    m_workspace.change(tr("bring back unsaved decisions"), kept->recipe);
    keep(); // they are in a file at every moment
    QFile::remove(file);
}

} // namespace qs
