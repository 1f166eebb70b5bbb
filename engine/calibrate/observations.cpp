// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/observations.h"

#include "engine/calibrate/npz.h"

namespace qs {

namespace {

void addHistogram(std::vector<NpyArray>& arrays, const std::string& prefix,
                  const Histogram& histogram)
{
    if (histogram.empty())
        return;
    arrays.push_back(npyFrom(prefix + "/counts", histogram.counts));
    arrays.push_back(npyFrom(prefix + "/range", std::vector<float> {histogram.min, histogram.max}));
}

void addObserver(std::vector<NpyArray>& arrays, const ObserverStats& stats)
{
    const std::string prefix = "obs_" + std::to_string(stats.id.value());
    arrays.push_back(npyScalar(prefix + "/count", stats.count));
    arrays.push_back(npyScalar(prefix + "/non_finite", stats.nonFinite));
    arrays.push_back(npyScalar(prefix + "/min", stats.min));
    arrays.push_back(npyScalar(prefix + "/max", stats.max));
    if (!stats.channelMin.empty()) {
        arrays.push_back(npyFrom(prefix + "/channel_min", stats.channelMin));
        arrays.push_back(npyFrom(prefix + "/channel_max", stats.channelMax));
    }
    arrays.push_back(npyFrom(prefix + "/batch_min", stats.batchMin));
    arrays.push_back(npyFrom(prefix + "/batch_max", stats.batchMax));
    addHistogram(arrays, prefix + "/histogram", stats.exact);
    addHistogram(arrays, prefix + "/fine", stats.fine);
}

} // namespace

const ObserverStats* Observations::tryGet(ObserverId id) const
{
    for (const auto& stats : observers)
        if (stats.id == id)
            return &stats;
    return nullptr;
}

Result<void> writeObservations(const Observations& observations, const std::string& path)
{
    std::vector<NpyArray> arrays;
    arrays.push_back(npyScalar("batches", observations.batches));
    arrays.push_back(npyScalar("samples", observations.samples));
    arrays.push_back(npyScalar("threads", std::int64_t(observations.threads)));
    for (const auto& stats : observations.observers)
        addObserver(arrays, stats);
    return writeNpz(arrays, path);
}

} // namespace qs
