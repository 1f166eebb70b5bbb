// SPDX-License-Identifier: Apache-2.0
// What the ranks of a search share.
#include "engine/distribute/collectives.h"
#include "engine/io/packed_tensor.h"
#include "engine/pipeline/tune/tune_measure.h"

namespace qs {

Result<double> TuneMeasure::sharedMetric(const TrialModel& model, const JobContext& job) const
{
    Group& group = *m_chain.group();
    double metric = 0;
    if (group.isFirst()) {
        QS_TRY(metric, metricOf(model, job));
    }
    QS_TRY(const std::string bytes,
           broadcast(group, group.newName("metric"), Packer().add(metric).take(), job));
    Unpacker(bytes).get(metric);
    return metric;
}

Result<std::vector<std::vector<at::Tensor>>>
TuneMeasure::sharedOutputs(const TrialModel& model, OutputRun& run, const JobContext& job) const
{
    Group& group = *m_chain.group();
    const std::string name = group.newName("trial");
    const auto count = std::int64_t(m_data.batches.size());
    Packer own;
    for (;;) {
        QS_TRY(const std::int64_t task, group.nextTask(name));
        if (task >= count)
            break;
        QS_CHECK(job.check());
        const CleanBatch& clean = m_data.batches[std::size_t(task)];
        QS_TRY(const std::vector<at::Tensor> outputs, outputsOf(model, run, clean, job));
        own.add(task).add(std::uint64_t(outputs.size()));
        for (const at::Tensor& output : outputs)
            packTensor(own, output);
    }
    QS_TRY(const auto ranks, gatherEverywhere(group, name, own.take(), job));
    std::vector<std::vector<at::Tensor>> all(m_data.batches.size());
    for (const std::string& bytes : ranks)
        for (Unpacker in(bytes); !in.isAtEnd();) {
            std::int64_t task = 0;
            std::uint64_t outputs = 0;
            in.get(task).get(outputs);
            QS_CHECK(in.check());
            for (std::uint64_t i = 0; i < outputs; ++i) {
                QS_TRY(all.at(std::size_t(task)).emplace_back(), unpackTensor(in));
            }
        }
    return all;
}

Result<void> TuneMeasure::checkSameTrial(const Key& key, const JobContext& job) const
{
    Group& group = *m_chain.group();
    QS_TRY(const std::string first, broadcast(group, group.newName("key"), key, job));
    if (first == key)
        return {};
    return fail(
        makeError(ErrorCode::Device,
                  "rank " + std::to_string(group.rank())
                      + " chose other cures than rank 0: their processors compute differently")
            .withHint("search on machines of one kind, or in one process"));
}

Result<double> TuneMeasure::sharedSeconds(double seconds, const JobContext& job) const
{
    Group& group = *m_chain.group();
    QS_TRY(const std::string bytes,
           broadcast(group, group.newName("seconds"), Packer().add(seconds).take(), job));
    Unpacker(bytes).get(seconds);
    return seconds;
}

} // namespace qs
