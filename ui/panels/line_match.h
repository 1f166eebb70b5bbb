// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <vector>

namespace qs {

/// Lines of two texts side by side: indices into each, -1 where the other has a line alone.
struct LinePair
{
    int left = -1;
    int right = -1;
    friend bool operator==(const LinePair&, const LinePair&) = default;
};

/// Pairs the lines of two texts by keys (patience diff): first keys that both sides have exactly
/// once, in the longest common order; between them, equal keys in order. Other lines have no
/// partner, left before right.
std::vector<LinePair> matchLines(const std::vector<QString>& left,
                                 const std::vector<QString>& right);

/// Identifies a line of printed code: the name it defines, the module it lists, else the whole
/// line.
QString codeLineKey(const QString& line);

} // namespace qs
