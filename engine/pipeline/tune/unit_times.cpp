// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/tune/unit_times.h"

#include "engine/compare/output_run.h"
#include "engine/compare/unit_latency.h"
#include "engine/convert/form_parts.h"
#include "engine/plan/summaries/group_root.h"

#include <algorithm>
#include <map>

namespace qs {

namespace {

constexpr int kTimedRuns = 4; ///< the first is a warm-up
constexpr double kMilliseconds = 1000;

Result<std::vector<NodeTime>> timesOf(const GraphPtr& form, const Batch& batch,
                                      const JobContext& job)
{
    QS_TRY(OutputRun run, OutputRun::create(form));
    for (int i = 0; i < kTimedRuns; ++i) {
        QS_CHECK(job.check());
        QS_CHECK(run.run(batch, job));
    }
    return run.times();
}

} // namespace

Result<std::vector<UnitTime>> measureTimes(StageChain& chain, const GraphPtr& model,
                                           const ConvertRequest& request, const Batch& batch,
                                           const JobContext& job)
{
    QS_TRY(const ConvertedPtr converted, chain.convert(request, job));
    const auto isLowered = [](const KernelCheck& check) { return check.passed; };
    if (std::none_of(converted->checks.begin(), converted->checks.end(), isLowered))
        return fail(makeError(ErrorCode::Unsupported,
                              "no operator has an int8 kernel here whose time could be measured")
                        .inFile(model->info().path)
                        .withHint("search with --cost macs"));
    QS_TRY(const auto asFloat, timesOf(model, batch, job));
    const ConvertedPtr whole = onModelInputs(converted);
    QS_TRY(const auto asIntegers, timesOf(whole->lowered, batch, job));
    const PreparedModel& prepared = *whole->prepared;
    std::map<NodeId, UnitTime> units;
    for (const UnitLatency& latency : unitLatencies(*whole, asFloat, asIntegers)) {
        const bool isUnit
            = latency.node && isQuantizedIn(*prepared.model, *prepared.plan, latency.node);
        const NodeId root
            = isUnit ? groupRoot(*prepared.model, *prepared.plan, latency.node) : NodeId();
        UnitTime& unit = units[root];
        unit.node = root;
        unit.floatMs += kMilliseconds * latency.floatSeconds.value_or(0);
        unit.int8Ms += kMilliseconds * latency.convertedSeconds().value_or(0);
    }
    std::vector<UnitTime> times;
    for (const auto& [root, unit] : units)
        times.push_back(unit);
    return times;
}

double totalMs(const std::vector<UnitTime>& times, const Graph& model, const Plan& plan)
{
    double sum = 0;
    for (const UnitTime& time : times)
        sum += !time.node || isQuantizedIn(model, plan, time.node) ? time.int8Ms : time.floatMs;
    return sum;
}

std::unordered_map<NodeId, double> addedMs(const std::vector<UnitTime>& times)
{
    std::unordered_map<NodeId, double> added;
    for (const UnitTime& time : times)
        if (time.node)
            added[time.node] = std::max(0.0, time.floatMs - time.int8Ms);
    return added;
}

} // namespace qs
