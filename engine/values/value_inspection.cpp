// SPDX-License-Identifier: Apache-2.0
#include "engine/values/value_inspection.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace qs {

namespace {

/// Returns indices of `errors` in ascending order of dB; stable.
template<class Index, class Errors>
std::vector<Index> worstFirst(const Errors& errors)
{
    std::vector<Index> order(errors.size());
    std::iota(order.begin(), order.end(), Index(0));
    const auto loss = [&](Index i) {
        return errors[std::size_t(i)].sqnrDb.value_or(std::numeric_limits<double>::infinity());
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](Index a, Index b) { return loss(a) < loss(b); });
    return order;
}

} // namespace

std::vector<std::int64_t> worstSamples(const ValueInspection& inspection, std::size_t most)
{
    auto order = worstFirst<std::int64_t>(inspection.samples);
    order.resize(std::min(order.size(), most));
    return order;
}

std::vector<std::size_t> worstChannels(const std::vector<ChannelError>& channels)
{
    return worstFirst<std::size_t>(channels);
}

std::int64_t SampleValues::allPlanes() const
{
    std::int64_t count = 1;
    for (std::size_t i = 0; i + 2 < shape.size(); ++i)
        count *= shape[i];
    return count;
}

bool SampleValues::isWhole() const
{
    return planes == allPlanes() && rows == allRows() && columns == allColumns();
}

} // namespace qs
