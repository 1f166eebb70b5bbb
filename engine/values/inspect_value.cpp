// SPDX-License-Identifier: Apache-2.0
#include "engine/values/inspect_value.h"

#include "engine/calibrate/data/batch_reader.h"
#include "engine/calibrate/non_finite.h"
#include "engine/convert/lowering/engine_run.h"
#include "engine/graph/output_names.h"
#include "engine/values/channel_axis.h"
#include "engine/values/channel_outliers.h"
#include "engine/values/value_sums.h"
#include "engine/values/watched_run.h"
#include "engine/values/weight_inspection.h"

#include <ATen/ATen.h>

namespace qs {

namespace {

std::string nameOf(const ConvertedModel& converted, const InspectionTarget& target,
                   const CompareUnit* unit)
{
    const Graph& model = *converted.prepared->model;
    return unit ? model.get(unit->last).name : outputNames(model).at(*target.output);
}

/// Collects the results of one inspection over the batches.
class ValueInspector
{
public:
    ValueInspector(const ConvertedModel& converted, const WatchedRun& run)
        : m_graph(*converted.prepared->model)
        , m_values(run.values())
        , m_sums(run.values().size())
        , m_results(run.values().size())
    {
    }

    Result<void> add(const std::vector<ValuePair>& seen, std::int64_t samples)
    {
        addCounts(m_counts, seen);
        for (std::size_t i = 0; i < seen.size(); ++i) {
            const at::Tensor& y = seen[i].first;
            const int axis
                = m_values[i] ? channelAxis(m_graph, m_values[i], std::size_t(y.dim())) : -1;
            if (m_sampleCount == 0) {
                m_results[i].name = m_values[i] ? m_graph.value(m_values[i]).name : "constant";
                m_results[i].shape = y.sizes().vec();
                m_results[i].channelAxis = axis;
            }
            QS_CHECK(m_sums[i].add(seen[i], axis, samples));
        }
        m_sampleCount += samples;
        m_batchSamples.push_back(samples);
        return {};
    }

    void addTo(ValueInspection& inspection)
    {
        ErrorSums all;
        for (std::size_t i = 0; i < m_sums.size(); ++i) {
            const auto& channels = m_sums[i].channels();
            m_results[i].channels = channels.size();
            for (std::size_t c = 0; c < channels.size(); ++c) {
                kernels::merge(all, channels[c].sums);
                inspection.channels.push_back(channelError(i, c, m_sums[i]));
            }
            addSamples(m_sums[i].samples(), i == 0);
        }
        inspection.error = metricsFrom(all);
        inspection.kl = divergence(m_counts);
        inspection.results = std::move(m_results);
        markOutliers(inspection.channels);
        for (const ErrorSums& sums : m_samples) {
            const auto error = metricsFrom(sums);
            inspection.samples.push_back(
                {sums.signal2, sums.noise2, error ? error->sqnrDb : std::nullopt, sums.maxAbs});
        }
        inspection.sampleCount = m_sampleCount;
        inspection.batchSamples = std::move(m_batchSamples);
    }

private:
    /// Adds the samples' errors of one result; a sample's error covers all results and is dropped
    /// if one of them has none.
    void addSamples(const std::vector<ErrorSums>& samples, bool isFirst)
    {
        if (isFirst)
            m_samples = samples;
        else if (samples.size() == m_samples.size())
            for (std::size_t s = 0; s < samples.size(); ++s)
                kernels::merge(m_samples[s], samples[s]);
        else
            m_samples.clear();
    }

    const Graph& m_graph;
    std::vector<ValueRef> m_values;
    std::vector<ValueSums> m_sums; ///< sums by result
    std::vector<ResultInspection> m_results;
    ValueCounts m_counts;
    std::vector<ErrorSums> m_samples;
    std::int64_t m_sampleCount = 0;
    std::vector<std::int64_t> m_batchSamples;
};

Result<ValueInspectionPtr> inspection(const ConvertedModel& converted, const Dataset& data,
                                      const InspectionTarget& target, const std::string& device,
                                      const JobContext& job, const EditedModel* edited)
{
    QS_TRY(WatchedRun run,
           WatchedRun::create(converted, target, device, data.isSequence(), edited));
    auto found = std::make_shared<ValueInspection>();
    found->target = target;
    found->name = nameOf(converted, target, run.unit());
    found->quantized = run.unit() && run.unit()->quantized;
    ValueInspector inspector(converted, run);
    BatchReader reader(data, job);
    const std::int64_t count = reader.count();
    for (std::int64_t i = 0; i < count; ++i) {
        job.report("look", "batch " + std::to_string(i + 1) + " of " + std::to_string(count),
                   double(i) / double(count));
        QS_TRY(const Batch batch, reader.next());
        QS_CHECK(checkObservedInputs(*converted.prepared->graph, batch));
        auto seen = run.run(batch, job);
        if (!seen)
            return fail(std::move(seen).error().atNode(found->name));
        QS_CHECK(inspector.add(*seen, batch.samples));
    }
    inspector.addTo(*found);
    if (run.unit()) {
        QS_TRY(found->weights, weightInspections(converted, *run.unit(), job));
    }
    return ValueInspectionPtr(std::move(found));
}

} // namespace

ChannelError channelError(std::size_t result, std::size_t index, const ValueSums& sums)
{
    const ValueSums::Channel& channel = sums.channels()[index];
    ChannelError error;
    error.result = result;
    error.channel = std::int64_t(index);
    error.quantiles = sums.quantiles(index);
    error.signal = channel.sums.signal2;
    error.noise = channel.sums.noise2;
    error.count = channel.sums.count;
    if (const auto metrics = metricsFrom(channel.sums)) {
        error.sqnrDb = metrics->sqnrDb;
        error.mse = metrics->mse;
        error.maxAbs = metrics->maxAbs;
    }
    error.low = channel.low;
    error.high = channel.high;
    return error;
}

Result<ValueInspectionPtr> inspectValue(const ConvertedModel& converted, const Dataset& data,
                                        const InspectionTarget& target, const std::string& device,
                                        const JobContext& job, const EditedModel* edited)
{
    return runOnEngine<ValueInspectionPtr>(
        converted.engine, [&] { return inspection(converted, data, target, device, job, edited); });
}

} // namespace qs
