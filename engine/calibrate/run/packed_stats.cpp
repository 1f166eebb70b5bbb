// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/run/packed_stats.h"

#include "engine/distribute/packed.h"

namespace qs {

std::string packStats(const ObserverStats& stats, std::size_t from)
{
    const auto rest = [from](const std::vector<float>& all) {
        return std::vector<float>(all.begin() + std::ptrdiff_t(std::min(from, all.size())),
                                  all.end());
    };
    Packer out;
    out.add(stats.count).add(stats.nonFinite).add(stats.min).add(stats.max);
    out.add(stats.channelMin).add(stats.channelMax);
    for (const Histogram* one : {&stats.exact, &stats.fine})
        out.add(one->min).add(one->max).add(one->counts);
    out.add(std::uint64_t(from)).add(rest(stats.batchMin)).add(rest(stats.batchMax));
    out.add(stats.ranges);
    return out.take();
}

Result<void> unpackStats(const std::string& bytes, ObserverStats& into)
{
    Unpacker in(bytes);
    in.get(into.count).get(into.nonFinite).get(into.min).get(into.max);
    in.get(into.channelMin).get(into.channelMax);
    for (Histogram* one : {&into.exact, &into.fine})
        in.get(one->min).get(one->max).get(one->counts);
    std::uint64_t from = 0;
    std::vector<float> lows, highs;
    in.get(from).get(lows).get(highs).get(into.ranges);
    QS_CHECK(in.check());
    if (from > into.batchMin.size())
        return fail(ErrorCode::Internal, "extremes of earlier batches are missing");
    into.batchMin.resize(from);
    into.batchMax.resize(from);
    into.batchMin.insert(into.batchMin.end(), lows.begin(), lows.end());
    into.batchMax.insert(into.batchMax.end(), highs.begin(), highs.end());
    return {};
}

} // namespace qs
