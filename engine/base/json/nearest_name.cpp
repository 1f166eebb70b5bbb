// SPDX-License-Identifier: Apache-2.0
#include "engine/base/json/nearest_name.h"

#include "engine/base/text.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace qs {

namespace {

char lower(char c)
{
    return char(std::tolower(static_cast<unsigned char>(c)));
}

/// Case-insensitive Levenshtein distance.
std::size_t editDistance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t(0));
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t keep = diagonal + (lower(a[i]) == lower(b[j]) ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({keep, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

} // namespace

std::string nearestName(std::string_view word, const std::vector<std::string>& candidates)
{
    std::string best;
    std::size_t bestDistance = std::string::npos;
    for (const auto& candidate : candidates) {
        // "Conv2d" or "nn.Conv2d" for "torch.nn.Conv2d": compare the last parts first, then the
        // whole names.
        const std::size_t whole = editDistance(word, candidate);
        const std::size_t last = editDistance(lastPart(word), lastPart(candidate));
        const bool near = whole <= std::max<std::size_t>(2, word.size() / 4)
            || last <= std::max<std::size_t>(1, lastPart(word).size() / 4);
        const std::size_t distance = last * 8 + whole;
        if (near && distance < bestDistance) {
            best = candidate;
            bestDistance = distance;
        }
    }
    return best;
}

std::string suggestName(std::string_view word, const std::vector<std::string>& candidates,
                        std::size_t most)
{
    const std::string near = nearestName(word, candidates);
    if (!near.empty())
        return "did you mean '" + near + "'?";
    std::string text = "one of: ";
    for (std::size_t i = 0; i < std::min(most, candidates.size()); ++i)
        text += (i ? ", " : "") + candidates[i];
    return candidates.size() > most ? text + ", ..." : text;
}

} // namespace qs
