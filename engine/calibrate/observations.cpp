// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/observations.h"

#include "engine/base/memory/free_later.h"
#include "engine/base/sha256.h"
#include "engine/io/npz.h"

#include <algorithm>
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
    if (!stats.ranges.empty()) {
        std::vector<std::int64_t> batches;
        std::vector<float> lows, highs;
        for (const RangeAfter& range : stats.ranges) {
            batches.push_back(range.batches);
            lows.push_back(range.low);
            highs.push_back(range.high);
        }
        arrays.push_back(npyFrom(prefix + "/range_batches", batches));
        arrays.push_back(npyFrom(prefix + "/range_low", lows));
        arrays.push_back(npyFrom(prefix + "/range_high", highs));
    }
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

/// Files of earlier versions have no such arrays.
std::vector<RangeAfter> readRanges(const Arrays& arrays, const std::string& prefix)
{
    const auto batches = valuesOf<std::int64_t>(arrays, prefix + "/range_batches");
    const auto lows = valuesOf<float>(arrays, prefix + "/range_low");
    const auto highs = valuesOf<float>(arrays, prefix + "/range_high");
    std::vector<RangeAfter> ranges;
    for (std::size_t i = 0; i < std::min({batches.size(), lows.size(), highs.size()}); ++i)
        ranges.push_back({batches[i], lows[i], highs[i]});
    return ranges;
}

/// True if the parts have the lengths required by the observer's spec.
bool isWhole(const ObserverStats& stats)
{
    const auto bins = std::size_t(std::max(stats.spec.bins, 0));
    const bool counts = stats.spec.kind == ObserverKind::Histogram;
    const std::size_t fineBins = counts ? bins : std::size_t(kFineBins);
    const bool needsCounts = counts && stats.count > 0 && stats.min <= stats.max;
    return stats.count >= 0 && stats.nonFinite >= 0
        && stats.channelMin.size() == stats.channelMax.size()
        && stats.batchMin.size() == stats.batchMax.size()
        && (stats.exact.empty() ? !needsCounts : stats.exact.counts.size() == bins)
        && (stats.fine.empty() || stats.fine.counts.size() == fineBins);
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
    stats.ranges = readRanges(arrays, prefix);
    stats.exact = readHistogram(arrays, prefix + "/histogram");
    stats.fine = readHistogram(arrays, prefix + "/fine");
    if (!isWhole(stats))
        return std::nullopt;
    return stats;
}

NpyArray npyText(std::string name, const std::string& text)
{
    NpyArray out {std::move(name), DType::UInt8, {std::int64_t(text.size())}, {}};
    out.bytes.resize(text.size());
    std::memcpy(out.bytes.data(), text.data(), text.size());
    return out;
}

constexpr const char* kChecksum = "checksum";

/// Returns the checksum of all other arrays, in the order of their names.
Result<std::string> checksumOf(const std::map<std::string_view, const NpyArray*>& arrays,
                               const JobContext& job)
{
    Sha256 hash;
    for (const auto& [name, array] : arrays) {
        if (name == kChecksum)
            continue;
        QS_CHECK(job.check());
        std::string head = std::string(name) + " " + std::to_string(int(array->dtype));
        for (const std::int64_t size : array->shape)
            head += " " + std::to_string(size);
        head += "\n";
        hash.update(head.data(), head.size());
        hash.update(array->bytes.data(), array->bytes.size());
    }
    return hash.hex();
}

std::string textOf(const Arrays& arrays, const std::string& name)
{
    const auto letters = valuesOf<char>(arrays, name);
    return {letters.begin(), letters.end()};
}

/// Reads the file's arrays and verifies the checksum. A file without one was written by an earlier
/// version.
Result<Arrays> readArrays(const std::string& path)
{
    QS_TRY(NpzContent content, readNpz(path));
    Arrays arrays;
    for (NpyArray& array : content.arrays)
        arrays.emplace(array.name, std::move(array));
    if (!arrays.contains(kChecksum))
        return arrays;
    std::map<std::string_view, const NpyArray*> byName;
    for (const auto& [name, array] : arrays)
        byName.emplace(name, &array);
    QS_TRY(const std::string checksum, checksumOf(byName, {}));
    if (textOf(arrays, kChecksum) != checksum)
        return fail(makeError(ErrorCode::BadInput, "was damaged or changed after it was written")
                        .inFile(path));
    return arrays;
}

} // namespace

const ObserverStats* Observations::tryGet(ObserverId id) const
{
    const auto it = std::lower_bound(
        observers.begin(), observers.end(), id,
        [](const ObserverStats& stats, ObserverId wanted) { return stats.id < wanted; });
    return it != observers.end() && it->id == id ? &*it : nullptr;
}

Result<void> writeObservations(const Observations& observations, const std::string& path,
                               const std::string& key, const JobContext& job)
{
    const auto made = makeFreedLater<std::vector<NpyArray>>();
    std::vector<NpyArray>& arrays = *made;
    arrays.push_back(npyScalar("batches", observations.batches));
    arrays.push_back(npyScalar("samples", observations.samples));
    arrays.push_back(npyScalar("threads", std::int64_t(observations.threads)));
    if (!key.empty())
        arrays.push_back(npyText("key", key));
    for (const auto& stats : observations.observers) {
        QS_CHECK(job.check());
        addObserver(arrays, stats);
    }
    const auto byName = makeFreedLater<std::map<std::string_view, const NpyArray*>>();
    for (const NpyArray& array : arrays)
        byName->emplace(array.name, &array);
    QS_TRY(const std::string checksum, checksumOf(*byName, job));
    arrays.push_back(npyText(kChecksum, checksum));
    return writeNpz(arrays, path, job);
}

Result<std::string> observationsKey(const std::string& path)
{
    QS_TRY(const Arrays arrays, readArrays(path));
    std::string key = textOf(arrays, "key");
    if (key.empty() || !arrays.contains(kChecksum))
        return fail(makeError(ErrorCode::BadInput, "not what a calibration left").inFile(path));
    return key;
}

Result<StoredObservations> readObservations(const std::string& path,
                                            const std::vector<PlannedObserver>& observers)
{
    QS_TRY(const Arrays arrays, readArrays(path));
    StoredObservations out;
    out.key = textOf(arrays, "key");
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
