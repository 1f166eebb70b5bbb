// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLockFile>
#include <QString>
#include <QTemporaryDir>

#include <memory>

namespace qs {

/// The folder of runs without a project. It is beside the autosaved decisions, so that after a
/// crash the runs are found when the same file is opened again. A second window on the same file
/// gets a temporary folder. The destructor removes the folder.
class UnsavedRuns
{
public:
    /// `opened`: `ProjectFiles::openedPath`.
    explicit UnsavedRuns(const QString& opened);
    ~UnsavedRuns();
    UnsavedRuns(const UnsavedRuns&) = delete;
    UnsavedRuns& operator=(const UnsavedRuns&) = delete;

    QString folder() const;
    /// True if an earlier window left runs of this file.
    static bool areLeft(const QString& opened);

private:
    QString m_folder; ///< empty: `m_temporary` is used
    std::unique_ptr<QLockFile> m_lock;
    std::unique_ptr<QTemporaryDir> m_temporary;
};

} // namespace qs
