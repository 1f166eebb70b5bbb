// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace qs {

/// Where what is open came from. GUI thread only.
class OpenedFiles
{
public:
    virtual ~OpenedFiles() = default;
    /// The file or folder that the user chose for what is open.
    virtual const QString& openedPath() const = 0;
    /// The project to save to; empty for a model that was never saved.
    virtual const QString& projectPath() const = 0;
    /// Another window has the project open: it is saved under another name alone.
    virtual bool isReadOnly() const = 0;
};

/// The file of the user's own data folder that keeps the unsaved decisions on what was opened by
/// this path.
QString unsavedFileFor(const QString& opened);

} // namespace qs
