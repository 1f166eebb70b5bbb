// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace qs {

/// Origin of the open model. GUI thread only.
class OpenedFiles
{
public:
    virtual ~OpenedFiles() = default;
    /// The file or folder that the user opened.
    virtual const QString& openedPath() const = 0;
    /// The project to save to; empty for a model that was never saved.
    virtual const QString& projectPath() const = 0;
    /// True if another window has the project open: it can only be saved under another name.
    virtual bool isReadOnly() const = 0;
};

/// Returns the file in the user's data folder with the unsaved decisions on the model opened from
/// this path.
QString unsavedFileFor(const QString& opened);

} // namespace qs
