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
    /// Another window has the project open: it is saved under another name alone.
    virtual bool isReadOnly() const = 0;
};

/// The file in the user's data folder with the unsaved decisions on the model that was opened by
/// this path.
QString unsavedFileFor(const QString& opened);

} // namespace qs
