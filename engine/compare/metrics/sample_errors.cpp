// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/metrics/sample_errors.h"

#include <tuple>

namespace qs {

bool isWorse(const SampleRecord& a, const SampleRecord& b)
{
    const auto place = [](const SampleRecord& record) {
        return std::tuple(!record.sqnrDb, record.sqnrDb.value_or(0), record.index);
    };
    return place(a) < place(b);
}

std::int64_t totalOf(const PairCounts& counts)
{
    std::int64_t total = 0;
    for (const auto& [row, columns] : counts)
        for (const auto& [column, count] : columns)
            total += count;
    return total;
}

std::int64_t equalIn(const PairCounts& counts)
{
    std::int64_t equal = 0;
    for (const auto& [row, columns] : counts)
        if (const auto same = columns.find(row); same != columns.end())
            equal += same->second;
    return equal;
}

std::size_t SampleErrors::bytes() const
{
    constexpr std::size_t kPair = 64; // a node of a map
    std::size_t bytes = worst.size() * sizeof(SampleRecord);
    if (classes)
        for (const PairCounts* counts :
             {&classes->floatInt8, &classes->labelFloat, &classes->labelInt8})
            for (const auto& [row, columns] : *counts)
                bytes += (1 + columns.size()) * kPair;
    return bytes;
}

} // namespace qs
