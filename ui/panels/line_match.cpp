// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/line_match.h"

#include <QHash>
#include <QRegularExpression>

#include <algorithm>

namespace qs {

namespace {

struct Occurrence
{
    int left = -1, right = -1;
    bool once = true;
};

/// Returns the pairs of keys that occur once on each side, in left order.
std::vector<LinePair> uniquePairs(const std::vector<QString>& left,
                                  const std::vector<QString>& right)
{
    QHash<QString, Occurrence> seen;
    for (std::size_t i = 0; i < left.size(); ++i) {
        auto& found = seen[left[i]];
        found.once = found.once && found.left < 0;
        found.left = int(i);
    }
    for (std::size_t i = 0; i < right.size(); ++i) {
        auto& found = seen[right[i]];
        found.once = found.once && found.right < 0;
        found.right = int(i);
    }
    std::vector<LinePair> out;
    for (const auto& found : seen)
        if (found.once && found.left >= 0 && found.right >= 0)
            out.push_back({found.left, found.right});
    std::sort(out.begin(), out.end(),
              [](const LinePair& a, const LinePair& b) { return a.left < b.left; });
    return out;
}

/// Returns the longest subsequence of the pairs with increasing right indices.
std::vector<LinePair> longestRising(const std::vector<LinePair>& pairs)
{
    std::vector<int> tails, before(pairs.size(), -1);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const auto at = std::lower_bound(
            tails.begin(), tails.end(), pairs[i].right,
            [&](int tail, int wanted) { return pairs[std::size_t(tail)].right < wanted; });
        if (at != tails.begin())
            before[i] = *std::prev(at);
        if (at == tails.end())
            tails.push_back(int(i));
        else
            *at = int(i);
    }
    std::vector<LinePair> out;
    for (int i = tails.empty() ? -1 : tails.back(); i >= 0; i = before[std::size_t(i)])
        out.push_back(pairs[std::size_t(i)]);
    std::reverse(out.begin(), out.end());
    return out;
}

} // namespace

std::vector<LinePair> matchLines(const std::vector<QString>& left,
                                 const std::vector<QString>& right)
{
    auto anchors = longestRising(uniquePairs(left, right));
    anchors.push_back({int(left.size()), int(right.size())});
    std::vector<LinePair> out;
    int l = 0, r = 0;
    for (const LinePair& anchor : anchors) {
        while (l < anchor.left || r < anchor.right) {
            const auto gapEnd = right.begin() + anchor.right;
            const auto twin = l < anchor.left
                ? std::find(right.begin() + r, gapEnd, left[std::size_t(l)])
                : gapEnd;
            if (l < anchor.left && twin == gapEnd) {
                out.push_back({l++, -1});
                continue;
            }
            const int until = l < anchor.left ? int(twin - right.begin()) : anchor.right;
            while (r < until)
                out.push_back({-1, r++});
            if (l < anchor.left)
                out.push_back({l++, r++});
        }
        if (anchor.left < int(left.size()))
            out.push_back({l++, r++});
    }
    return out;
}

QString codeLineKey(const QString& line)
{
    static const QRegularExpression made(QStringLiteral("^\\s*(\\w+(?:, \\w+)*) = "));
    static const QRegularExpression module(QStringLiteral("^\\s*\\([^)]*\\): "));
    if (const auto match = made.match(line); match.hasMatch())
        return match.captured(1);
    if (const auto match = module.match(line); match.hasMatch())
        return match.captured(0);
    return line.trimmed().startsWith(QLatin1String("return")) ? QStringLiteral("return") : line;
}

} // namespace qs
