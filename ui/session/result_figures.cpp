// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/result_figures.h"

#include "engine/plan/summaries/coverage.h"
#include "engine/runs/run_record.h"

namespace qs {

ResultFigures resultFigures(const Comparison& comparison, const Plan& plan,
                            const ModuleStatisticsMap& sizes)
{
    ResultFigures out;
    const auto sqnr = [](const std::optional<ErrorMetrics>& metrics) {
        return metrics ? metrics->sqnrDb : std::nullopt;
    };
    const OutputError* worst = nullptr;
    std::optional<double> least;
    for (const auto& output : comparison.outputs) {
        const auto own = output.lowered ? sqnr(output.lowered) : sqnr(output.cumulative);
        if (!worst || (own && (!least || *own < *least))) {
            worst = &output;
            least = own;
        }
    }
    if (worst) {
        out.loweredDb = sqnr(worst->lowered);
        out.referenceDb = sqnr(worst->cumulative);
    }
    out.floatTop1 = comparison.floatTop1;
    out.int8Top1 = comparison.int8Top1;
    if (comparison.agreement)
        out.agreement = comparison.agreement->top1;
    const Coverage coverage = coverageOf(plan);
    out.quantizedOps = coverage.quantized;
    out.eligibleOps = coverage.eligible;
    out.totalOps = coverage.total;
    out.samples = comparison.samples;
    if (const auto all = sizes.find(""); all != sizes.end()) {
        out.floatBytes = all->second.floatBytes;
        out.int8Bytes = all->second.plannedBytes;
    }
    return out;
}

ResultFigures resultFigures(const RunHeadline& run)
{
    ResultFigures out;
    if (const RunOutput* worst = run.worstOutput()) {
        out.loweredDb = worst->lowered ? worst->lowered->sqnrDb : std::nullopt;
        out.referenceDb = worst->reference ? worst->reference->sqnrDb : std::nullopt;
    }
    out.floatTop1 = run.floatTop1;
    out.int8Top1 = run.int8Top1;
    out.agreement = run.agreement;
    out.quantizedOps = run.quantizedOps.value_or(0);
    out.eligibleOps = run.eligibleOps.value_or(0);
    out.totalOps = run.totalOps.value_or(0);
    out.samples = run.samples;
    out.floatBytes = run.floatBytes.value_or(0);
    out.int8Bytes = run.int8Bytes.value_or(0);
    return out;
}

} // namespace qs
