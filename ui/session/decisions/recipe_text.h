// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/configure/recipe.h"

#include <QString>
#include <QStringList>

#include <string>

namespace qs {

/// An error in a recipe's text, with its place.
struct RecipeProblem
{
    QString message; ///< one line
    int line = 1; ///< from 1
    int column = 0; ///< from 1; 0 if only the line is known
    /// "Line 7, column 22"
    QString place() const;
};

/// Returns the line (from 1) of the value at a path such as "mapping.module_name[2][0]" in JSON
/// text; if it does not exist, the line of its nearest existing parent. Pure.
int lineOfJsonPath(const std::string& json, const std::string& path);

/// Returns the keys that enclose a position in JSON text, outermost first, list items as "[2]". On
/// a key or after its value that key is included. The text may be incomplete. Pure.
QStringList jsonPathAt(const QString& json, qsizetype at);

/// Parses a recipe from the editor; the problem names the line.
tl::expected<Recipe, RecipeProblem> readRecipeText(const QString& text);

} // namespace qs
