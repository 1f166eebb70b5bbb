// SPDX-License-Identifier: Apache-2.0
#include "engine/base/text.h"
#include "engine/calibrate/data/batch_reader.h"
#include "engine/convert/lowering/engine_run.h"
#include "engine/execute/value_conversion.h"
#include "engine/values/channel_axis.h"
#include "engine/values/inspect_value.h"
#include "engine/values/value_sums.h"
#include "engine/values/watched_run.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace qs {

namespace {

/// A batch and the number of samples before it.
struct Place
{
    std::int64_t batch = 0, before = 0;
};

Error noSuchSample(std::int64_t sample, std::int64_t samples)
{
    return makeError(ErrorCode::BadInput, "there is no sample " + std::to_string(sample))
        .withHint(samples > 0 ? "samples count from 0 to " + std::to_string(samples - 1)
                              : "the data hold none");
}

/// Returns one sample's value as [planes, rows, columns].
at::Tensor inPlanes(const at::Tensor& value)
{
    const at::Tensor x = value.to(at::kFloat);
    if (x.dim() < 2)
        return x.reshape({1, 1, -1});
    return x.reshape({-1, x.size(-2), x.size(-1)});
}

Result<void> cut(SampleValues& found, const ValuePair& value, const ValuePart& part)
{
    const std::int64_t planes = found.allPlanes(), rows = found.allRows(),
                       columns = found.allColumns();
    const auto outside
        = [](std::int64_t at, std::int64_t count) { return at < 0 || (count > 0 && at >= count); };
    if (outside(part.plane, planes) || outside(part.row, rows) || outside(part.column, columns))
        return fail(makeError(ErrorCode::BadInput,
                              "there is no such part of a value of " + counted(planes, "plane")
                                  + " of " + std::to_string(rows) + " x "
                                  + std::to_string(columns)));
    const std::int64_t most = std::max<std::int64_t>(1, part.elements);
    found.firstPlane = part.plane;
    if (rows * columns <= most) {
        found.rows = rows;
        found.columns = columns;
        const std::int64_t fit = most / std::max<std::int64_t>(1, rows * columns);
        if (fit >= planes)
            found.firstPlane = 0;
        found.planes = std::min(planes - found.firstPlane, fit);
    } else { // one plane, limited to the part that fits
        found.planes = std::min<std::int64_t>(1, planes);
        found.firstRow = part.row;
        found.firstColumn = part.column;
        found.columns = std::min(columns - part.column, most);
        found.rows = std::min(rows - part.row, std::max<std::int64_t>(1, most / found.columns));
    }
    const auto taken = [&](const at::Tensor& whole) {
        return floatsOf(inPlanes(whole)
                            .narrow(0, found.firstPlane, found.planes)
                            .narrow(1, found.firstRow, found.rows)
                            .narrow(2, found.firstColumn, found.columns));
    };
    found.floating = taken(value.first);
    found.converted = taken(value.second);
    return {};
}

Result<SampleValuesPtr> valuesIn(const ConvertedModel& converted, const WatchedRun& run,
                                 const SampleWanted& wanted, const std::vector<ValuePair>& seen,
                                 std::int64_t index, std::int64_t samples)
{
    const std::size_t result = wanted.part.result;
    if (result >= seen.size())
        return fail(makeError(ErrorCode::BadInput,
                              "there is no result " + std::to_string(result) + ": it has "
                                  + counted(std::int64_t(seen.size()), "result")));
    ValuePair value = seen[result];
    auto found = std::make_shared<SampleValues>();
    found->target = wanted.target;
    found->sample = wanted.sample;
    found->result = result;
    const ValueRef ref = run.values()[result];
    const int axis
        = ref ? channelAxis(*converted.prepared->model, ref, std::size_t(value.first.dim())) : -1;
    found->ofBatch = !hasSamples(value.first, samples);
    const bool isRow = !found->ofBatch && value.first.dim() > 0 && value.first.size(0) == samples;
    if (isRow)
        value = {value.first.select(0, index), value.second.select(0, index)};
    found->shape = value.first.sizes().vec();
    found->channelAxis = axis < 0 ? -1 : axis - (isRow ? 1 : 0);
    QS_CHECK(cut(*found, value, wanted.part));
    return SampleValuesPtr(std::move(found));
}

/// Returns the sample's batch if sizes are known from an earlier inspection; else the first.
Place startAt(const SampleWanted& wanted, std::int64_t batches)
{
    if (std::int64_t(wanted.batchSamples.size()) != batches)
        return {};
    Place place;
    for (const std::int64_t samples : wanted.batchSamples) {
        if (wanted.sample < place.before + samples)
            return place;
        place.before += samples;
        ++place.batch;
    }
    return {};
}

Result<SampleValuesPtr> findValues(const ConvertedModel& converted, const Dataset& data,
                                   const SampleWanted& wanted, const std::string& device,
                                   const JobContext& job, const EditedModel* edited)
{
    if (wanted.sample < 0)
        return fail(noSuchSample(wanted.sample, 0));
    QS_TRY(WatchedRun run,
           WatchedRun::create(converted, wanted.target, device, data.isSequence(), edited));
    const Place start = data.isSequence() ? Place {} : startAt(wanted, data.batchCount());
    BatchReader reader(data, job, start.batch);
    std::int64_t before = start.before;
    for (std::int64_t i = start.batch; i < reader.count(); ++i) {
        QS_CHECK(job.check());
        QS_TRY(const Batch batch, reader.next());
        const bool isHere = wanted.sample < before + batch.samples;
        if (isHere || data.isSequence()) {
            QS_TRY(const std::vector<ValuePair> seen, run.run(batch, job));
            if (isHere)
                return valuesIn(converted, run, wanted, seen, wanted.sample - before,
                                batch.samples);
        }
        before += batch.samples;
    }
    return fail(noSuchSample(wanted.sample, before));
}

} // namespace

Result<SampleValuesPtr> sampleValues(const ConvertedModel& converted, const Dataset& data,
                                     const SampleWanted& wanted, const std::string& device,
                                     const JobContext& job, const EditedModel* edited)
{
    return runOnEngine<SampleValuesPtr>(
        converted.engine, [&] { return findValues(converted, data, wanted, device, job, edited); });
}

} // namespace qs
