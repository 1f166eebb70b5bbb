// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <vector>

namespace qs {

/// A pair of lines of two texts: an index into each; -1 if the other line has no partner.
struct LinePair
{
    int left = -1;
    int right = -1;
    friend bool operator==(const LinePair&, const LinePair&) = default;
};

/// Pairs the lines of two texts by keys (patience diff): first keys that occur exactly once on both
/// sides, in the longest common order; between them, equal keys in order. Other lines have no
/// partner; left lines precede right lines.
std::vector<LinePair> matchLines(const std::vector<QString>& left,
                                 const std::vector<QString>& right);

/// Returns the key of a line of printed code: the name it defines, the module it lists, else the
/// whole line.
QString codeLineKey(const QString& line);

} // namespace qs
