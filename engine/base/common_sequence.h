// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace qs {

using PlacePairs = std::vector<std::pair<std::size_t, std::size_t>>;

/// Returns the longest common subsequence of two lists of `n` and `m` elements as pairs of indices,
/// both ascending. `same(i, j)` compares an element of the first list with one of the second. Lists
/// too long for a table are matched greedily in one pass. `goOn()` is called once per row; returns
/// nothing if it returns false.
template<class Same, class GoOn = bool (*)()>
PlacePairs commonSequence(
    std::size_t n, std::size_t m, const Same& same, const GoOn& goOn = [] { return true; })
{
    constexpr std::size_t kLargestTable = 64'000'000;
    PlacePairs pairs;
    if (n * m > kLargestTable) {
        for (std::size_t i = 0, j = 0; i < n && j < m; ++i)
            if (same(i, j))
                pairs.emplace_back(i, j++);
        return pairs;
    }
    std::vector<std::uint32_t> length((n + 1) * (m + 1));
    const auto at
        = [&](std::size_t i, std::size_t j) -> std::uint32_t& { return length[i * (m + 1) + j]; };
    for (std::size_t i = n; i-- > 0;) {
        if (!goOn())
            return pairs;
        for (std::size_t j = m; j-- > 0;)
            at(i, j) = same(i, j) ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
    }
    for (std::size_t i = 0, j = 0; i < n && j < m;) {
        if (same(i, j) && at(i, j) == at(i + 1, j + 1) + 1)
            pairs.emplace_back(i++, j++);
        else if (at(i + 1, j) >= at(i, j + 1))
            ++i;
        else
            ++j;
    }
    return pairs;
}

} // namespace qs
