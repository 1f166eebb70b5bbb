// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/calibrator.h"

#include "engine/base/log.h"
#include "engine/base/memory/freed_memory.h"
#include "engine/base/torch_guard.h"
#include "engine/calibrate/checkpoint.h"
#include "engine/calibrate/convergence/range_recorder.h"
#include "engine/calibrate/data/batch_reader.h"
#include "engine/calibrate/data/input_variety.h"
#include "engine/calibrate/observers/saved_states.h"
#include "engine/calibrate/run/shared_start.h"
#include "engine/distribute/collectives.h"
#include "engine/distribute/packed.h"
#include "engine/distribute/relay.h"

#include <ATen/Parallel.h>

#include <chrono>

namespace qs {

namespace {

std::string packNonFinite(const std::vector<NonFiniteValue>& values)
{
    Packer out;
    for (const NonFiniteValue& one : values)
        out.add(one.name).add(one.seen);
    return out.take();
}

std::vector<NonFiniteValue> unpackNonFinite(const std::string& bytes)
{
    std::vector<NonFiniteValue> values;
    for (Unpacker in(bytes); !in.isAtEnd() && in.check();) {
        NonFiniteValue& one = values.emplace_back();
        in.get(one.name).get(one.seen);
    }
    return values;
}

// One calibration, from its first batch or the checkpoint of an earlier run to its last batch.
class CalibrationRun
{
public:
    CalibrationRun(ObservedRun run, const PreparedModel& prepared, const Dataset& data,
                   const CalibrationOptions& options, Group& group)
        : m_run(std::move(run))
        , m_prepared(prepared)
        , m_data(data)
        , m_checkpoint(data.isSequence() || !group.isFirst() ? nullptr : options.checkpoint)
        , m_ranges(options.ranges)
        , m_findings(options.findings)
        , m_group(group)
        , m_variety(*prepared.graph)
    {
    }

    Result<ObservationsPtr> run(const std::string& device, const JobContext& job)
    {
        m_seen.device = device;
        m_seen.threads = at::get_num_threads();
        QS_TRY(const bool isResumed, takeUp(*m_prepared.plan, job));
        if (!isResumed)
            QS_CHECK(m_run.observeWeights(job));
        const std::int64_t batches = m_data.batchCount();
        Relay relay(m_group, m_group.newName("calibrate"), m_seen.batches, batches);
        m_run.relayBy(relay, [this, batches](Observer& observer) {
            if (m_ranges)
                m_ranges->addOne({m_batch, batches, 0}, observer);
        });
        const auto done = runBatches(relay, batches, job);
        if (relay.isActive())
            QS_CHECK(unite(relay, done, job));
        QS_CHECK(done);
        job.report("calibrate", "done", 1.0);
        if (!isResumed && m_group.isFirst()) // else earlier batches are unknown
            m_variety.report();
        if (!m_data.isSequence())
            warnOfSavedStates(*m_prepared.graph);
        m_seen.batches = batches;
        m_seen.observers = m_run.stats();
        return std::make_shared<Observations>(std::move(m_seen));
    }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds kKeepEvery {1}, kSaveEvery {10};
    static constexpr Relay::Slot kSamples = 0; // observers count from 1

    Result<bool> takeUp(const Plan& plan, const JobContext& job)
    {
        auto own = m_checkpoint ? m_checkpoint->load(plan) : std::nullopt;
        if (own && own->batches > m_data.batchCount())
            own.reset();
        QS_TRY(auto earlier, sharedStart(m_group, std::move(own), plan, job));
        if (!earlier)
            return false;
        m_seen.batches = earlier->batches;
        m_seen.samples = earlier->samples;
        m_run.restore(std::move(earlier->observers));
        if (m_checkpoint)
            note("calibration resumes after batch " + std::to_string(m_seen.batches) + ", from "
                 + m_checkpoint->path());
        return true;
    }

    Result<void> runBatches(Relay& relay, std::int64_t batches, const JobContext& job)
    {
        BatchReader reader(m_data, job, relay.firstOwn(), relay.stride(), m_seen.device != "cpu");
        const std::string all = " of " + std::to_string(batches);
        for (std::int64_t at = relay.firstOwn(); at < batches; at += relay.stride()) {
            job.report("calibrate", "batch " + std::to_string(at + 1) + all,
                       double(at) / double(batches));
            const auto done = runBatch(reader, relay, at + 1, job);
            const bool isStopped
                = !done && (done.error().code == ErrorCode::Cancelled || relay.isActive());
            if (isStopped && m_checkpoint && m_kept.batches > 0)
                return fail(leave(done.error(), all));
            QS_CHECK(done);
            QS_CHECK(record(batches));
            if (m_checkpoint)
                QS_CHECK(keep());
        }
        return m_run.settle(m_data);
    }

    Result<void> runBatch(BatchReader& reader, Relay& relay, std::int64_t number,
                          const JobContext& job)
    {
        QS_CHECK(job.check());
        RelayedObservers* const relayed = m_run.relayed();
        if (relayed)
            relayed->begin(number - 1);
        m_batch = number;
        QS_TRY(Batch batch, reader.next());
        if (number <= m_group.size())
            QS_CHECK(m_run.checkMemory(batch));
        m_variety.see(batch);
        const std::int64_t samples = batch.samples;
        QS_CHECK(m_run.runBatch(batch, number, job));
        if (m_run.settlesNow())
            QS_CHECK(m_run.settle(m_data));
        if (relayed) {
            QS_TRY(const auto before, relay.take(kSamples, job));
            if (before)
                Unpacker(*before).get(m_seen.samples);
        }
        m_seen.samples += samples;
        m_seen.batches = number;
        if (!relayed)
            return {};
        QS_CHECK(relay.pass(kSamples, Packer().add(m_seen.samples).take()));
        return relayed->end(job);
    }

    // Gives every rank what all of them found, or the failure of the earliest batch.
    Result<void> unite(Relay& relay, const Result<void>& done, const JobContext& job)
    {
        const std::string places = m_findings ? packNonFinite(m_findings->nonFinite) : "";
        auto states = relay.finish(done ? nullptr : &done.error(), job, places);
        if (!states) {
            if (m_findings)
                m_findings->nonFinite = unpackNonFinite(relay.failureDetail());
            return fail(std::move(states).error());
        }
        QS_CHECK(m_run.relayed()->adopt(*states));
        if (const auto samples = states->find(kSamples); samples != states->end())
            Unpacker(samples->second).get(m_seen.samples);
        QS_TRY(const auto inputs,
               gather(m_group, m_group.newName("variety"), m_variety.packed(), job));
        for (std::size_t rank = 1; rank < inputs.size(); ++rank)
            QS_CHECK(m_variety.add(inputs[rank]));
        if (!m_findings)
            return {};
        QS_TRY(
            const auto shapes,
            gatherEverywhere(m_group, m_group.newName("shapes"), m_findings->shapes.packed(), job));
        QS_TRY(m_findings->shapes, RecordedShapes::united(shapes));
        return {};
    }

    // Passes the ranges after a batch to the recorder.
    Result<void> record(std::int64_t allBatches)
    {
        const RangeRecorder::Amount amount {m_seen.batches, allBatches, m_seen.samples};
        if (!m_ranges || m_run.relayed() || !m_ranges->isDue(amount))
            return {};
        QS_CHECK(m_run.settle(m_data));
        m_ranges->add(amount, m_prepared.plan, [this](ObserverId id) { return m_run.tryGet(id); });
        return {};
    }

    // Keeps the statistics after a batch, and periodically in the file: cancelling within a batch
    // leaves observers in different states.
    Result<void> keep()
    {
        const auto now = Clock::now();
        if (now - m_keptAt < kKeepEvery)
            return {};
        QS_CHECK(m_run.settle(m_data));
        m_kept = m_seen;
        m_kept.observers = m_run.stats();
        m_keptAt = now;
        if (now - m_savedAt < kSaveEvery)
            return {};
        m_savedAt = now;
        return m_checkpoint->save(m_kept);
    }

    // Returns the cancelled run's error, with a note on the kept statistics.
    Error leave(Error cancelled, const std::string& all) const
    {
        if (const auto saved = m_checkpoint->save(m_kept); !saved)
            return saved.error();
        if (cancelled.code != ErrorCode::Cancelled)
            return cancelled;
        cancelled.message += " after batch " + std::to_string(m_kept.batches) + all;
        return std::move(cancelled).withHint("repeat the command to resume");
    }

    ObservedRun m_run;
    const PreparedModel& m_prepared;
    const Dataset& m_data;
    const Checkpoint* m_checkpoint;
    RangeRecorder* m_ranges; ///< may be null
    RunFindings* m_findings; ///< may be null
    Group& m_group;
    InputVariety m_variety;
    Observations m_seen, m_kept;
    std::int64_t m_batch = 0; ///< the current one, from 1
    Clock::time_point m_keptAt; ///< the first batch is kept immediately
    Clock::time_point m_savedAt = Clock::now();
};

Result<ObservationsPtr> runCalibration(const PreparedModel& prepared, const Dataset& data,
                                       const std::string& device, const JobContext& job,
                                       const CalibrationOptions& options)
{
    const InferenceScope inference;
    const std::shared_ptr<Group> alone = singleProcess();
    Group& group = options.group ? *options.group : *alone;
    if (data.isSequence() && !group.isAlone())
        return fail(sequenceNeedsOneProcess());
    QS_TRY(Interpreter interpreter,
           Interpreter::create(prepared.graph, {.device = at::Device(device)}, job));
    ObservedRun run(prepared, std::move(interpreter), data.isSequence(), options.findings);
    return CalibrationRun(std::move(run), prepared, data, options, group).run(device, job);
}

} // namespace

Result<ObservationsPtr> calibrate(const PreparedModel& prepared, const Dataset& data,
                                  const std::string& device, const JobContext& job,
                                  const CalibrationOptions& options)
{
    auto observations = guardTorchValue<ObservationsPtr>(
        [&] { return runCalibration(prepared, data, device, job, options); });
    returnFreedMemory();
    return observations;
}

} // namespace qs
