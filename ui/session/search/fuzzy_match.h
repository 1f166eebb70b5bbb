// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace qs {

/// How well `text` fits what was typed: 0 = not at all, more is better. Every word of the pattern
/// must be found: as a piece of the text (best at the start of a word), else letter by letter in
/// order. Case does not matter; an empty pattern fits everything alike. Pure.
int fuzzyScore(const QString& pattern, const QString& text);
/// Whether each word of the pattern is a piece of the text. Pure.
bool standsIn(const QString& pattern, const QString& text);

} // namespace qs
