// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/tune/tune_measure.h"

#include "engine/base/decibels.h"
#include "engine/base/text.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/compare/metrics/metrics.h"
#include "engine/compare/metrics/top1.h"
#include "engine/convert/convert.h"
#include "engine/convert/form_edits.h"
#include "engine/convert/form_parts.h"
#include "engine/distribute/collectives.h"
#include "engine/distribute/packed.h"
#include "engine/edit/cures/model_cures.h"
#include "engine/pipeline/checks.h"
#include "engine/pipeline/keys/content_keys.h"
#include "engine/pipeline/metric/measure_metric.h"
#include "engine/pipeline/tune/unit_times.h"
#include "engine/plan/module_statistics.h"
#include "engine/plan/summaries/group_root.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

namespace qs {

namespace {

bool isMeasurable(const at::Tensor& clean, const at::Tensor& noisy)
{
    return clean.defined() && noisy.defined() && clean.is_floating_point()
        && clean.sizes() == noisy.sizes();
}

/// Spread of an output's noise over samples, or over batches if the output has no sample dimension.
class NoiseSpread
{
public:
    void add(const at::Tensor& clean, const at::Tensor& noisy, std::int64_t samples)
    {
        const at::Tensor signal = clean.to(at::kDouble), error = noisy.to(at::kDouble) - signal;
        const bool hasRows = clean.dim() > 0 && clean.size(0) == samples;
        const std::int64_t rows = hasRows ? samples : 1;
        addRows(at::square(signal).reshape({rows, -1}).sum(1),
                at::square(error).reshape({rows, -1}).sum(1));
    }

    /// Relative standard error of noise over signal (a ratio of means, to first order).
    double relativeError() const
    {
        if (m_rows < 2 || !(m_signal > 0) || !(m_noise > 0))
            return 0;
        const double ratio = m_noise / m_signal, rows = double(m_rows);
        const double squares
            = m_noiseSquares - 2 * ratio * m_products + ratio * ratio * m_signalSquares;
        const double error
            = std::sqrt(std::max(0.0, squares) / (rows - 1) / rows) / (m_noise / rows);
        return std::isfinite(error) ? error : 0; // none for infinite noise
    }

private:
    void addRows(const at::Tensor& signal, const at::Tensor& noise)
    {
        m_rows += signal.numel();
        m_signal += signal.sum().item<double>();
        m_noise += noise.sum().item<double>();
        m_signalSquares += at::square(signal).sum().item<double>();
        m_noiseSquares += at::square(noise).sum().item<double>();
        m_products += (signal * noise).sum().item<double>();
    }

    std::int64_t m_rows = 0;
    double m_signal = 0, m_noise = 0, m_signalSquares = 0, m_noiseSquares = 0, m_products = 0;
};

/// Accumulates the figures of batches.
class FigureSums
{
public:
    explicit FigureSums(const std::vector<ClassScores>& scores)
        : m_top1(scores)
    {
    }

    Result<void> add(const std::vector<at::Tensor>& clean, const std::vector<at::Tensor>& noisy,
                     const Batch& batch)
    {
        m_sums.resize(clean.size());
        m_spreads.resize(clean.size());
        for (std::size_t o = 0; o < clean.size() && o < noisy.size(); ++o)
            if (isMeasurable(clean[o], noisy[o])) {
                QS_CHECK(addError(m_sums[o], clean[o], noisy[o]));
                m_spreads[o].add(clean[o], noisy[o], batch.samples);
            }
        m_top1.add(clean, noisy, batch);
        return {};
    }

    TrialFigures figures() const
    {
        TrialFigures made;
        made.db = kExactDb;
        for (std::size_t o = 0; o < m_sums.size(); ++o) {
            const auto error = metricsFrom(m_sums[o]);
            const bool isMeasured = error && error->sqnrDb;
            made.byOutput.push_back(isMeasured ? shareOfDb(*error->sqnrDb) : -1);
            if (!isMeasured)
                continue;
            if (*error->sqnrDb < made.db)
                made.noiseError = m_spreads[o].relativeError();
            made.db = std::min(made.db, *error->sqnrDb);
            // NaN for an infinite error counts as -1
            made.cosine = std::min(made.cosine, std::isnan(error->cosine) ? -1 : error->cosine);
        }
        Comparison counted;
        m_top1.addTo(counted, std::vector<std::string>(m_sums.size()));
        if (counted.floatTop1 && counted.int8Top1)
            made.top1Drop = 100 * (*counted.floatTop1 - *counted.int8Top1);
        else if (counted.agreement)
            made.top1Drop = 100 * (1 - counted.agreement->top1);
        return made;
    }

private:
    std::vector<ErrorSums> m_sums; ///< by output
    std::vector<NoiseSpread> m_spreads;
    Top1 m_top1;
};

} // namespace

double int8Share(const Graph& model, const Plan& plan)
{
    std::int64_t all = 0, held = 0;
    for (const auto& [node, macs] : macsByOperator(model)) {
        all += macs;
        held += isQuantizedIn(model, plan, node) ? macs : 0;
    }
    return all > 0 ? double(held) / double(all) : 1;
}

Result<TuneMeasure> TuneMeasure::create(StageChain& chain, const TuneRequest& request,
                                        const JobContext& job)
{
    TuneMeasure made(chain, request);
    QS_TRY(const EditedModelPtr edited, chain.edited(request.file, request.recipe, job));
    made.m_float = edited->graph;
    made.m_names = formOutputNames(*edited->graph, {});
    made.m_scores = classScores(*edited->graph);
    QS_TRY(const EditedModelPtr before, chain.edited(request.file, untrained(request.recipe), job));
    QS_TRY(made.m_data, readTuneData(chain, request, before->graph, made.m_names, job));
    const std::int64_t guard = made.m_data.guardSamples;
    made.m_holdsAll = holdsAll(guard);
    if (made.m_holdsAll)
        made.m_data.notes.push_back((guard == 0 ? std::string("no sample is kept as guard")
                                                : "the guard has " + counted(guard, "sample")
                                             + ", fewer than " + std::to_string(kLeastGuard))
                                    + ": the goal is held on all "
                                    + counted(made.m_data.samples(), "sample"));
    return made;
}

Result<std::vector<std::size_t>> TuneMeasure::unfit(const Recipe& recipe,
                                                    const JobContext& job) const
{
    QS_TRY(const EditedModelPtr edited, m_chain.edited(m_request.file, recipe, job));
    QS_TRY(const GraphPtr model, m_chain.typed(edited->graph, recipe, m_request.settings, job));
    QS_TRY(const CureExpansionPtr expanded, m_chain.cures(model, recipe, job));
    std::vector<std::size_t> unfit;
    for (const CurePlace& place : expanded->places)
        if (!place.problem.empty())
            unfit.push_back(place.cure);
    return unfit;
}

Result<CalibrationPtr> TuneMeasure::calibrated(const Recipe& recipe, const JobContext& job) const
{
    QS_TRY(const EditedModelPtr edited, m_chain.edited(m_request.file, recipe, job));
    QS_TRY(const GraphPtr model, m_chain.typed(edited->graph, recipe, m_request.settings, job));
    QS_TRY(const PlanPtr plan, m_chain.plan(model, recipe, job));
    if (!recipe.cures.empty() && plan->quantizedOps == 0)
        return fail(makeError(ErrorCode::BadInput, "nothing is quantized any longer")
                        .inFile(model->info().path));
    QS_TRY(CalibrationPtr calibration,
           m_chain.calibrate({model, plan, recipe, m_request.settings}, job));
    const PreparedModel& prepared = *calibration->prepared;
    QS_CHECK(checkCalibrated(*prepared.model, *prepared.plan, calibration->qparams,
                             recipe.uncalibrated));
    return calibration;
}

Result<TrialModel> TuneMeasure::make(const Recipe& recipe, const JobContext& job) const
{
    TrialModel made;
    QS_TRY(made.calibration, calibrated(recipe, job));
    QS_TRY(const EditedModelPtr edited, m_chain.edited(m_request.file, recipe, job));
    made.addresses = edited->addresses;
    const PreparedModel& prepared = *made.calibration->prepared;
    QS_TRY(const ReferenceModel reference,
           convertToReference(made.calibration->prepared, made.calibration->qparams,
                              recipe.target(), job));
    QS_TRY(const ConvertedPtr formed, withFormEdits(reference.model, recipe, job));
    made.converted = onModelInputs(formed);
    made.int8Macs = int8Share(*prepared.model, *prepared.plan);
    return made;
}

Result<std::vector<UnitTime>> TuneMeasure::times(const TrialModel& model, const Recipe& recipe,
                                                 const JobContext& job) const
{
    job.report("tune", "times of operators", 0);
    const ConvertRequest request {model.calibration, recipe, m_request.settings};
    Group& group = *m_chain.group();
    std::vector<UnitTime> times;
    if (group.isFirst()) {
        QS_TRY(times, measureTimes(m_chain, m_float, request, m_data.batches.front().batch, job));
    } else {
        QS_CHECK(m_chain.convert(request, job)); // of all ranks
    }
    QS_TRY(const std::string bytes,
           broadcast(group, group.newName("times"), Packer().add(times).take(), job));
    Unpacker(bytes).get(times);
    return times;
}

Result<SavedTraining> TuneMeasure::train(const TrialModel& model, const Recipe& recipe,
                                         TrainingSettings settings, const JobContext& job) const
{
    TrainRequest request;
    request.file = m_request.file;
    request.start = model.calibration;
    request.model = request.start->prepared->model;
    request.plan = request.start->prepared->plan;
    request.recipe = recipe;
    request.settings = m_request.settings;
    request.batches = m_data.all;
    request.dataHash = KeyBuilder("searched data").add(m_request.data).add(m_request.samples).key();
    request.savesOnCancel = false;
    settings.seed = m_request.seed;
    settings.guard = m_data.guardSamples > 0 ? kGuardShare : 0;
    request.training = std::move(settings);
    const std::string& path = m_request.trainedFile;
    if (m_request.seconds) // a resumed search has other seconds left
        return m_chain.train(request, path, {}, job);
    request.checkpoint = path + ".partial.npz";
    std::error_code code;
    request.resumes = std::filesystem::exists(request.checkpoint, code);
    auto made = m_chain.train(request, path, {}, job);
    if (!made && request.resumes && made.error().file == request.checkpoint) {
        request.resumes = false; // it is of another search
        made = m_chain.train(request, path, {}, job);
    }
    return made;
}

Result<double> TuneMeasure::metricOf(const TrialModel& model, const JobContext& job) const
{
    const CalibrationSettings cut = comparedCut(m_request.settings, m_request.recipe.calibration);
    const Graph& given = *model.calibration->prepared->model;
    QS_TRY(const auto data, m_chain.data(given, m_request.settings.compared(), cut));
    return measureMetric(model.converted->reference, *data,
                         formOutputNames(given, model.converted->referenceEdits), m_request.metric,
                         job);
}

Result<std::vector<at::Tensor>> TuneMeasure::outputsOf(const TrialModel& model, OutputRun& run,
                                                       const CleanBatch& clean,
                                                       const JobContext& job) const
{
    QS_TRY(auto outputs, run.run(clean.batch, job));
    return inModelOrder(std::move(outputs), model.converted->referenceEdits, clean.outputs.size());
}

Result<void> TuneMeasure::measure(const TrialModel& model, Trial& trial,
                                  const JobContext& job) const
{
    QS_TRY(OutputRun run, OutputRun::create(model.converted->reference));
    FigureSums search(m_scores), held(m_scores);
    const bool isShared = !m_chain.group()->isAlone();
    std::vector<std::vector<at::Tensor>> shared;
    if (isShared) {
        QS_TRY(shared, sharedOutputs(model, run, job));
    }
    for (std::size_t i = 0; i < m_data.batches.size(); ++i) {
        const CleanBatch& clean = m_data.batches[i];
        QS_CHECK(job.check());
        QS_TRY(const std::vector<at::Tensor> outputs,
               isShared ? Result<std::vector<at::Tensor>>(std::move(shared[i]))
                        : outputsOf(model, run, clean, job));
        if (!clean.isGuard)
            QS_CHECK(search.add(clean.outputs, outputs, clean.batch));
        if (clean.isGuard || m_holdsAll)
            QS_CHECK(held.add(clean.outputs, outputs, clean.batch));
    }
    trial.search = search.figures();
    trial.guard = held.figures();
    if (m_request.goal.kind == TuneGoal::Kind::Metric) {
        QS_TRY(const double metric, sharedMetric(model, job));
        trial.guard.metric
            = std::isfinite(metric) ? metric : -std::numeric_limits<double>::infinity();
    }
    trial.int8Macs = model.int8Macs;
    if (!isTold(trial.guard))
        return fail(makeError(ErrorCode::Usage,
                              "the goal " + inQuotes(goalText(m_request.goal))
                                  + " needs an output of class scores, which this model does not "
                                    "have")
                        .withHint("give 'sqnr 20' or 'cosine 0.98'"));
    trial.reached = reaches(trial.guard);
    return {};
}

bool TuneMeasure::isTold(const TrialFigures& figures) const
{
    switch (m_request.goal.kind) {
    case TuneGoal::Kind::Top1Drop:
        return figures.top1Drop.has_value();
    case TuneGoal::Kind::Metric:
        return figures.metric.has_value();
    default:
        return true;
    }
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
    case TuneGoal::Kind::Metric:
        return figures.metric && *figures.metric >= goal.value;
    }
    return false;
}

} // namespace qs
