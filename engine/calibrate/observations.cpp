// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/observations.h"

#include "engine/calibrate/npz.h"

#include <cstring>
#include <map>

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

using Arrays = std::map<std::string, NpyArray>;

template<class T>
std::vector<T> valuesOf(const Arrays& arrays, const std::string& name)
{
    const auto found = arrays.find(name);
    if (found == arrays.end() || found->second.bytes.size() % sizeof(T) != 0)
        return {};
    std::vector<T> out(found->second.bytes.size() / sizeof(T));
    if (!out.empty())
        std::memcpy(out.data(), found->second.bytes.data(), out.size() * sizeof(T));
    return out;
}

template<class T>
bool readScalar(const Arrays& arrays, const std::string& name, T& into)
{
    const auto values = valuesOf<T>(arrays, name);
    if (values.size() == 1)
        into = values[0];
    return values.size() == 1;
}

Histogram readHistogram(const Arrays& arrays, const std::string& prefix)
{
    const auto range = valuesOf<float>(arrays, prefix + "/range");
    if (range.size() != 2)
        return {};
    return {range[0], range[1], valuesOf<float>(arrays, prefix + "/counts")};
}

std::optional<ObserverStats> readObserver(const Arrays& arrays, const PlannedObserver& planned)
{
    ObserverStats stats;
    stats.id = planned.id;
    stats.spec = planned.spec;
    const std::string prefix = "obs_" + std::to_string(planned.id.value());
    if (!readScalar(arrays, prefix + "/count", stats.count)
        || !readScalar(arrays, prefix + "/non_finite", stats.nonFinite)
        || !readScalar(arrays, prefix + "/min", stats.min)
        || !readScalar(arrays, prefix + "/max", stats.max))
        return std::nullopt;
    stats.channelMin = valuesOf<float>(arrays, prefix + "/channel_min");
    stats.channelMax = valuesOf<float>(arrays, prefix + "/channel_max");
    stats.batchMin = valuesOf<float>(arrays, prefix + "/batch_min");
    stats.batchMax = valuesOf<float>(arrays, prefix + "/batch_max");
    stats.exact = readHistogram(arrays, prefix + "/histogram");
    stats.fine = readHistogram(arrays, prefix + "/fine");
    return stats;
}

NpyArray npyText(std::string name, const std::string& text)
{
    NpyArray out {std::move(name), DType::UInt8, {std::int64_t(text.size())}, {}};
    out.bytes.resize(text.size());
    std::memcpy(out.bytes.data(), text.data(), text.size());
    return out;
}

} // namespace

const ObserverStats* Observations::tryGet(ObserverId id) const
{
    for (const auto& stats : observers)
        if (stats.id == id)
            return &stats;
    return nullptr;
}

Result<void> writeObservations(const Observations& observations, const std::string& path,
                               const std::string& key)
{
    std::vector<NpyArray> arrays;
    arrays.push_back(npyScalar("batches", observations.batches));
    arrays.push_back(npyScalar("samples", observations.samples));
    arrays.push_back(npyScalar("threads", std::int64_t(observations.threads)));
    if (!key.empty())
        arrays.push_back(npyText("key", key));
    for (const auto& stats : observations.observers)
        addObserver(arrays, stats);
    return writeNpz(arrays, path);
}

Result<StoredObservations> readObservations(const std::string& path,
                                            const std::vector<PlannedObserver>& observers)
{
    QS_TRY(NpzContent content, readNpz(path));
    Arrays arrays;
    for (NpyArray& array : content.arrays)
        arrays.emplace(array.name, std::move(array));
    StoredObservations out;
    const auto key = valuesOf<char>(arrays, "key");
    out.key.assign(key.begin(), key.end());
    std::int64_t threads = 0;
    bool complete = readScalar(arrays, "batches", out.observations.batches)
        && readScalar(arrays, "samples", out.observations.samples)
        && readScalar(arrays, "threads", threads);
    out.observations.threads = int(threads);
    for (const PlannedObserver& planned : observers) {
        auto stats = readObserver(arrays, planned);
        complete = complete && stats;
        if (complete)
            out.observations.observers.push_back(std::move(*stats));
    }
    if (!complete)
        return fail(makeError(ErrorCode::BadInput, "not the statistics of this plan's observers")
                        .inFile(path));
    return out;
}

} // namespace qs
