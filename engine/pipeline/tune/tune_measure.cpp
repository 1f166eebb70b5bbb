// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/tune/tune_measure.h"

#include "engine/base/decibels.h"
#include "engine/base/text.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/compare/metrics/metrics.h"
#include "engine/compare/metrics/top1.h"
#include "engine/compare/output_run.h"
#include "engine/convert/convert.h"
#include "engine/convert/form_edits.h"
#include "engine/convert/form_parts.h"
#include "engine/pipeline/checks.h"
#include "engine/pipeline/keys/content_keys.h"
#include "engine/plan/module_statistics.h"

#include <algorithm>

namespace qs {

namespace {

constexpr std::int64_t kGuardEvery = 4; ///< batches
constexpr std::int64_t kLeastBatches = 8; ///< that the data are cut into, where they allow it

/// Some batches of a dataset.
class SomeBatches : public Dataset
{
public:
    SomeBatches(std::shared_ptr<const Dataset> all, std::vector<std::int64_t> chosen)
        : m_all(std::move(all))
        , m_chosen(std::move(chosen))
    {
        setSequence(m_all->isSequence());
    }
    std::int64_t batchCount() const override { return std::int64_t(m_chosen.size()); }
    Result<Batch> batch(std::int64_t index) const override
    {
        return m_all->batch(m_chosen.at(std::size_t(index)));
    }
    bool hasLabels() const override { return m_all->hasLabels(); }

private:
    std::shared_ptr<const Dataset> m_all;
    std::vector<std::int64_t> m_chosen;
};

struct CleanOutputs
{
    std::vector<std::vector<at::Tensor>> byBatch;
    std::int64_t samples = 0;
};

Result<CleanOutputs> runAll(const GraphPtr& graph, const Dataset& data, const JobContext& job)
{
    CleanOutputs made;
    QS_TRY(OutputRun run, OutputRun::create(graph));
    for (std::int64_t i = 0; i < data.batchCount(); ++i) {
        QS_TRY(const Batch batch, data.batch(i));
        QS_TRY(auto outputs, run.run(batch, job));
        made.byBatch.push_back(std::move(outputs));
        made.samples += batch.samples;
    }
    return made;
}

bool isMeasurable(const at::Tensor& clean, const at::Tensor& noisy)
{
    return clean.defined() && noisy.defined() && clean.is_floating_point()
        && clean.sizes() == noisy.sizes();
}

} // namespace

double int8Share(const Graph& model, const Plan& plan)
{
    std::int64_t all = 0, held = 0;
    for (const auto& [node, macs] : macsByOperator(model)) {
        all += macs;
        const NodePlan* decided = plan.tryGet(model, node);
        held += decided && decided->quantized ? macs : 0;
    }
    return all > 0 ? double(held) / double(all) : 1;
}

Result<TuneMeasure> TuneMeasure::create(StageChain& chain, const TuneRequest& request,
                                        const JobContext& job)
{
    TuneMeasure made(chain, request);
    QS_TRY(const EditedModelPtr edited, chain.edited(request.file, request.recipe, job));
    CalibrationSettings cut = comparedCut(request.settings, request.recipe.calibration);
    const std::int64_t each = std::max<std::int64_t>(1, request.samples / kLeastBatches);
    cut.batchSize = int(std::min<std::int64_t>(cut.batchSize, each));
    cut.batches = 0;
    QS_TRY(const auto all, chain.data(*edited->graph, request.settings.compared(), cut));
    std::vector<std::int64_t> search, guard;
    std::int64_t samples = 0;
    for (std::int64_t i = 0; i < all->batchCount() && samples < request.samples; ++i) {
        QS_TRY(const Batch batch, all->batch(i));
        samples += batch.samples;
        (i % kGuardEvery == kGuardEvery - 1 ? guard : search).push_back(i);
    }
    if (guard.empty() && request.needsGuard)
        return fail(makeError(ErrorCode::BadInput,
                              counted(samples, "sample")
                                  + " leave no guard: a search could fit them "
                                    "alone")
                        .inFile(request.settings.compared())
                        .withHint("give 16 or more, or --no-guard"));
    made.m_search = std::make_shared<const SomeBatches>(all, std::move(search));
    QS_TRY(CleanOutputs clean, runAll(edited->graph, *made.m_search, job));
    made.m_cleanSearch = std::move(clean.byBatch);
    made.m_searchSamples = clean.samples;
    if (!guard.empty()) {
        made.m_guard = std::make_shared<const SomeBatches>(all, std::move(guard));
        QS_TRY(clean, runAll(edited->graph, *made.m_guard, job));
        made.m_cleanGuard = std::move(clean.byBatch);
        made.m_guardSamples = clean.samples;
    }
    made.m_scores = classScores(*edited->graph);
    return made;
}

Result<TrialModel> TuneMeasure::make(const Recipe& recipe, const JobContext& job) const
{
    QS_TRY(const EditedModelPtr edited, m_chain.edited(m_request.file, recipe, job));
    QS_TRY(const GraphPtr model, m_chain.typed(edited->graph, recipe, m_request.settings, job));
    QS_TRY(const PlanPtr plan, m_chain.plan(model, recipe, job));
    TrialModel made;
    QS_TRY(made.calibration, m_chain.calibrate({model, plan, recipe, m_request.settings}, job));
    const PreparedModel& prepared = *made.calibration->prepared;
    QS_CHECK(checkCalibrated(*prepared.model, *prepared.plan, made.calibration->qparams,
                             recipe.uncalibrated));
    QS_TRY(const ReferenceModel reference,
           convertToReference(made.calibration->prepared, made.calibration->qparams,
                              recipe.target(), job));
    QS_TRY(const ConvertedPtr formed, withFormEdits(reference.model, recipe, job));
    made.converted = onModelInputs(formed);
    made.int8Macs = int8Share(*prepared.model, *prepared.plan);
    return made;
}

Result<TrialFigures> TuneMeasure::figures(const TrialModel& model, const Dataset& data,
                                          const std::vector<std::vector<at::Tensor>>& clean,
                                          const JobContext& job) const
{
    const GraphPtr& graph = model.converted->reference;
    QS_TRY(OutputRun run, OutputRun::create(graph));
    std::vector<ErrorSums> sums;
    Top1 top1(m_scores);
    for (std::int64_t i = 0; i < data.batchCount(); ++i) {
        QS_CHECK(job.check());
        QS_TRY(const Batch batch, data.batch(i));
        QS_TRY(auto outputs, run.run(batch, job));
        const auto& wanted = clean.at(std::size_t(i));
        outputs = inModelOrder(std::move(outputs), model.converted->referenceEdits, wanted.size());
        sums.resize(wanted.size());
        for (std::size_t o = 0; o < wanted.size() && o < outputs.size(); ++o)
            if (isMeasurable(wanted[o], outputs[o]))
                QS_CHECK(addError(sums[o], wanted[o], outputs[o]));
        top1.add(wanted, outputs, batch);
    }
    TrialFigures made;
    made.db = kExactDb;
    for (const ErrorSums& one : sums)
        if (const auto error = metricsFrom(one); error && error->sqnrDb) {
            made.db = std::min(made.db, *error->sqnrDb);
            made.cosine = std::min(made.cosine, error->cosine);
        }
    Comparison counted;
    top1.addTo(counted, std::vector<std::string>(sums.size()));
    if (counted.floatTop1 && counted.int8Top1)
        made.top1Drop = 100 * (*counted.floatTop1 - *counted.int8Top1);
    else if (counted.agreement)
        made.top1Drop = 100 * (1 - counted.agreement->top1);
    return made;
}

Result<void> TuneMeasure::measure(const TrialModel& model, Trial& trial,
                                  const JobContext& job) const
{
    QS_TRY(trial.search, figures(model, *m_search, m_cleanSearch, job));
    trial.guard = trial.search;
    if (m_guard) {
        QS_TRY(trial.guard, figures(model, *m_guard, m_cleanGuard, job));
    }
    trial.int8Macs = model.int8Macs;
    trial.reached = reaches(trial.guard);
    return {};
}

bool TuneMeasure::reaches(const TrialFigures& figures) const
{
    const TuneGoal& goal = m_request.goal;
    switch (goal.kind) {
    case TuneGoal::Kind::Sqnr:
        return figures.db >= goal.value;
    case TuneGoal::Kind::Cosine:
        return figures.cosine >= goal.value;
    case TuneGoal::Kind::Top1Drop:
        return figures.top1Drop && *figures.top1Drop <= goal.value;
    }
    return false;
}

} // namespace qs
