// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/unsaved_runs.h"

#include "engine/project/project.h"
#include "ui/session/opened_files.h"
#include "ui/session/text.h"

#include <QDir>
#include <QFileInfo>

namespace qs {

namespace {

QString runsBesideDecisions(const QString& opened)
{
    return toQString(runsFolderOf(unsavedFileFor(opened).toStdString()));
}

} // namespace

UnsavedRuns::UnsavedRuns(const QString& opened)
{
    const QString folder = runsBesideDecisions(opened);
    const bool isThere = !opened.isEmpty() && QDir().mkpath(folder);
    if (isThere) {
        m_lock = std::make_unique<QLockFile>(folder + QStringLiteral(".lock"));
        m_lock->setStaleLockTime(0); // a lock is stale only if its process has ended
        if (m_lock->tryLock()) {
            m_folder = folder;
            return;
        }
    }
    m_temporary = std::make_unique<QTemporaryDir>();
}

UnsavedRuns::~UnsavedRuns()
{
    if (!m_folder.isEmpty())
        QDir(m_folder).removeRecursively();
}

QString UnsavedRuns::folder() const
{
    return m_temporary ? m_temporary->path() : m_folder;
}

bool UnsavedRuns::areLeft(const QString& opened)
{
    return !opened.isEmpty() && QFileInfo::exists(runsBesideDecisions(opened));
}

} // namespace qs
