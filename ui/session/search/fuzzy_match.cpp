// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/search/fuzzy_match.h"

#include <QStringList>

#include <algorithm>

namespace qs {

namespace {

bool startsWord(const QString& text, qsizetype at)
{
    return at == 0 || !text[at - 1].isLetterOrNumber();
}

/// Returns the score of a word as a substring of the text; 0 if it does not occur.
int pieceScore(const QString& word, const QString& text)
{
    int best = 0;
    for (qsizetype at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
        best = std::max(best, at == 0 ? 100 : startsWord(text, at) ? 80 : 40);
    return best;
}

/// Returns the score of a word's letters in order, with gaps between them. Letters at the start of
/// words count more.
int letterScore(const QString& word, const QString& text)
{
    qsizetype at = 0;
    int starts = 0;
    for (const QChar letter : word) {
        at = text.indexOf(letter, at);
        if (at < 0)
            return 0;
        starts += startsWord(text, at) ? 1 : 0;
        ++at;
    }
    return 1 + 30 * starts / int(word.size());
}

} // namespace

int fuzzyScore(const QString& pattern, const QString& text)
{
    const QString low = text.toLower();
    int score = 1;
    for (const QString& word : pattern.toLower().split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
        const int piece = pieceScore(word, low);
        const int found = piece > 0 ? piece : letterScore(word, low);
        if (found == 0)
            return 0;
        score += found;
    }
    return score;
}

bool standsIn(const QString& pattern, const QString& text)
{
    const QStringList words = pattern.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    return std::all_of(words.begin(), words.end(), [&](const QString& word) {
        return text.contains(word, Qt::CaseInsensitive);
    });
}

} // namespace qs
