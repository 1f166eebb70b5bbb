// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace qs {

/// Returns the score of `text` for a typed pattern: 0 = no match, more is better. Every word of the
/// pattern must match: as a substring (best at the start of a word), else letter by letter in
/// order. Ignores case; an empty pattern matches all texts with equal score. Pure.
int fuzzyScore(const QString& pattern, const QString& text);
/// True if each word of the pattern is a substring of the text. Pure.
bool standsIn(const QString& pattern, const QString& text);

} // namespace qs
