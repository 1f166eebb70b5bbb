// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QWidget>

#include <vector>

namespace qs {

/// Some lines of Python or shell that create a .pt2.
struct PythonSnippet
{
    QString id; ///< the file's name without its suffix: "one_input"
    QString file; ///< "one_input.py"
    QString title;
    QString code; ///< can be run unchanged
};
/// The snippets in the resources, simplest first; skips missing ones.
std::vector<PythonSnippet> pythonSnippets();

/// "From Python to .pt2": shows snippets to copy, and saves the export helper. GUI
/// thread only.
class FromPython : public QWidget
{
    Q_OBJECT

public:
    explicit FromPython(QWidget* parent);

private:
    QWidget* buildPage(const PythonSnippet& snippet);
    void saveHelper();
};

} // namespace qs
