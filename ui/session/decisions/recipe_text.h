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
    int column = 0; ///< from 1; 0 where only the line is known
    /// "Line 7, column 22"
    QString place() const;
};

/// Line (from 1) of the value that a path such as "mapping.module_name[2][0]" names in JSON text;
/// of its nearest existing parent where it is not there. Pure.
int lineOfJsonPath(const std::string& json, const std::string& path);

/// The keys around a character of JSON text that may not be whole yet, outermost first, items of
/// lists as "[2]"; on a key or after its value, with that key. Pure.
QStringList jsonPathAt(const QString& json, qsizetype at);

/// Parses a recipe from the editor; the problem names the line.
tl::expected<Recipe, RecipeProblem> readRecipeText(const QString& text);

} // namespace qs
