// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLockFile>
#include <QString>
#include <QTemporaryDir>

#include <memory>

namespace qs {

/// The folder of runs that belong to no project yet. It lies beside the autosaved decisions, so
/// that after a crash the runs are there again when the same file is opened; a second window on the
/// same file gets a temporary one. Removed with this object.
class UnsavedRuns
{
public:
    /// `opened`: what is open, as `ProjectFiles::openedPath` says.
    explicit UnsavedRuns(const QString& opened);
    ~UnsavedRuns();
    UnsavedRuns(const UnsavedRuns&) = delete;
    UnsavedRuns& operator=(const UnsavedRuns&) = delete;

    QString folder() const;
    /// Whether an earlier window left runs of this file.
    static bool areLeft(const QString& opened);

private:
    QString m_folder; ///< empty: the temporary one
    std::unique_ptr<QLockFile> m_lock;
    std::unique_ptr<QTemporaryDir> m_temporary;
};

} // namespace qs
