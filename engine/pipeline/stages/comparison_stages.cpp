// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/stages/comparison_stages.h"

#include "engine/blame/blame_sites.h"
#include "engine/blame/why_json.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/compare/comparator.h"
#include "engine/convert/convert.h"
#include "engine/convert/form_edits.h"
#include "engine/convert/form_parts.h"
#include "engine/distribute/collectives.h"
#include "engine/distribute/packed.h"
#include "engine/pipeline/causes_of.h"
#include "engine/pipeline/checks.h"
#include "engine/pipeline/keys/content_keys.h"
#include "engine/pipeline/metric/measure_metric.h"
#include "engine/pipeline/tune/float_choice.h"
#include "engine/values/inspect_value.h"
#include "engine/verify/certificate.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace qs {

namespace {

/// Approximate size, for the limit of the cache.
std::size_t bytesOf(const ConvertedModel& model)
{
    return heldBytes(*model.reference) + heldBytes(*model.lowered);
}
std::size_t bytesOf(const Comparison& comparison)
{
    return comparison.nodes.size() * sizeof(NodeError)
        + (comparison.sampleErrors ? comparison.sampleErrors->bytes() : 0);
}

std::size_t bytesOf(const ValueInspection& inspection)
{
    std::size_t channels = inspection.channels.size();
    for (const WeightInspection& weight : inspection.weights)
        channels += weight.channels.size();
    return channels * sizeof(ChannelError) + inspection.samples.size() * sizeof(SampleError);
}

std::size_t diagnosisBytes(const Diagnosis& diagnosis)
{
    return diagnosis.blame->sites.size() * sizeof(SiteBlame)
        + diagnosis.front.size() * sizeof(PredictedPoint) + diagnosis.causes.size() * sizeof(Cause);
}

/// The edited model whose original is the float side; null if the float side is the model itself.
/// Without edits both are the same model, for which all error terms exist.
const EditedModel* originalOf(const CompareRequest& request)
{
    const Graph& model = *request.calibration->prepared->model;
    return measuresOriginal(request.settings, model) ? request.edited.get() : nullptr;
}

/// The kernels that the check refused, for ranks that check none.
std::string packRefused(const ConvertedModel& converted)
{
    Packer out;
    for (const KernelCheck& check : converted.checks)
        if (!check.passed)
            out.add(converted.reference->get(check.reference).name)
                .add(check.kernel)
                .add(check.reason);
    return out.take();
}

std::vector<RefusedKernel> unpackRefused(const std::string& bytes)
{
    std::vector<RefusedKernel> kernels;
    for (Unpacker in(bytes); !in.isAtEnd() && in.check();) {
        RefusedKernel& one = kernels.emplace_back();
        in.get(one.site).get(one.kernel).get(one.reason);
    }
    return kernels;
}

} // namespace

Result<ConvertedPtr> ComparisonStages::convert(const ConvertRequest& request, const JobContext& job)
{
    const Calibration& calibration = *request.calibration;
    const PreparedModel& prepared = *calibration.prepared;
    const Key key = conversionKey(calibration, request.recipe);
    if (auto kept = m_memo.find<ConvertedModel>(key);
        kept && kept->prepared == calibration.prepared)
        return kept;
    if (std::any_of(request.recipe.edits.begin(), request.recipe.edits.end(), isFormEdit)) {
        // An edit of a form does not require another lowering and kernel check.
        ConvertRequest plain = request;
        plain.recipe = withoutFormEdits(request.recipe);
        QS_TRY(const ConvertedPtr before, convert(plain, job));
        QS_TRY(ConvertedPtr edited, withFormEdits(before, request.recipe, job));
        m_memo.keep<ConvertedModel>(key, edited, bytesOf(*edited));
        return edited;
    }
    QS_CHECK(checkCalibrated(*prepared.model, *prepared.plan, calibration.qparams,
                             request.recipe.uncalibrated));
    QS_TRY(const auto opened,
           data(*prepared.model, request.settings.calibrationData, request.recipe.calibration));
    QS_TRY(const Batch first, opened->batch(0));
    QS_TRY(const Key batch, checkedKey(request, job));
    const KnownChecks known {m_work.sums, batch};
    Group& group = *m_options.group;
    const std::string exchange = group.newName("kernels");
    auto refused = request.refused;
    if (!group.isFirst()) {
        QS_TRY(const std::string bytes, broadcast(group, exchange, {}, job));
        refused = unpackRefused(bytes);
    }
    QS_TRY(ConvertedPtr converted,
           convertModel(calibration.prepared, calibration.qparams, request.recipe,
                        {&first, refused ? &*refused : nullptr, batch.empty() ? nullptr : &known,
                         !group.isFirst()},
                        job));
    if (group.isFirst())
        QS_CHECK(broadcast(group, exchange, packRefused(*converted), job));
    m_memo.keep<ConvertedModel>(key, converted, bytesOf(*converted));
    return converted;
}

Result<Key> ComparisonStages::checkedKey(const ConvertRequest& request, const JobContext& job)
{
    const Graph& model = *request.calibration->prepared->model;
    if (m_options.valueBytes == 0)
        return Key();
    QS_TRY(const Key content,
           m_hashes.of(request.settings.calibrationData, model.info().sha256, job));
    return KeyBuilder("checked batch")
        .add(modelKey(model))
        .add(batchesKey(content, request.recipe.calibration, 1))
        .add(std::int64_t(at::get_num_threads()))
        .key();
}

Result<Key> ComparisonStages::comparedKey(const CompareRequest& request, const JobContext& job)
{
    const Calibration& calibration = *request.calibration;
    const Graph& model = *calibration.prepared->model;
    QS_TRY(const Key content, m_hashes.of(request.settings.compared(), model.info().sha256, job));
    const CalibrationSettings cut = comparedCut(request.settings, request.recipe.calibration);
    return KeyBuilder("compared")
        .add(modelKey(model))
        .add(batchesKey(content, cut, cut.batches))
        .add(calibration.device)
        .add(std::int64_t(at::get_num_threads()))
        .key();
}

Result<Key> ComparisonStages::comparisonKey(const CompareRequest& request, const JobContext& job)
{
    QS_TRY(const Key compared, comparedKey(request, job));
    return KeyBuilder("comparison")
        .add(conversionKey(*request.calibration, request.recipe))
        .add(compared)
        .add(measuresOriginal(request.settings, *request.calibration->prepared->model) ? "original"
                                                                                       : "edited")
        .add(std::int64_t(request.settings.allLocalTerms))
        .key();
}

Result<ComparisonStages::Compared> ComparisonStages::comparedOf(const CompareRequest& request,
                                                                const JobContext& job)
{
    const PreparedPtr& prepared = request.calibration->prepared;
    ConvertedPtr converted = request.converted;
    if (converted->prepared != prepared) {
        QS_TRY(converted, convert({request.calibration, request.recipe, request.settings}, job));
    }
    QS_TRY(auto opened,
           data(*prepared->model, request.settings.compared(),
                comparedCut(request.settings, request.recipe.calibration)));
    return Compared {onModelInputs(converted), std::move(opened)};
}

Result<ComparisonPtr> ComparisonStages::compare(const CompareRequest& request,
                                                const JobContext& job)
{
    QS_TRY(const Key key, comparisonKey(request, job));
    if (auto kept = m_memo.find<Comparison>(key))
        return kept;
    QS_TRY(const Compared of, comparedOf(request, job));
    QS_TRY(Key compared, comparedKey(request, job));
    const Continuation from {m_work, std::move(compared), of.data->batchCount()};
    QS_TRY(ComparisonPtr comparison,
           compareModels(*of.converted, *of.data, request.calibration->device,
                         {m_options.valueBytes > 0 ? &from : nullptr, originalOf(request),
                          request.settings.allLocalTerms, m_options.group.get()},
                         job));
    m_memo.keep<Comparison>(key, comparison, bytesOf(*comparison));
    return comparison;
}

Result<Evaluation> ComparisonStages::evaluate(const CompareRequest& request,
                                              const UserMetric& metric, const JobContext& job)
{
    QS_TRY(const Compared of, comparedOf(request, job));
    const Graph& model = *of.converted->prepared->model;
    Evaluation made;
    for (const auto& [name, value, graph, edits] :
         {std::tuple("float", &made.floating, of.converted->prepared->model, EditedModelPtr()),
          std::tuple("int8", &made.int8, of.converted->lowered, of.converted->loweredEdits)}) {
        job.report("eval", name, 0);
        QS_TRY(*value, measureMetric(graph, *of.data, formOutputNames(model, edits), metric, job));
        if (!std::isfinite(*value))
            return fail(makeError(ErrorCode::BadInput,
                                  "your metric printed no finite number for the outputs of the "
                                      + std::string(name) + " model"));
    }
    return made;
}

Result<ValueInspectionPtr> ComparisonStages::inspect(const CompareRequest& request,
                                                     const InspectionTarget& target,
                                                     const JobContext& job)
{
    QS_TRY(const Key comparison, comparisonKey(request, job));
    const Key key = KeyBuilder("look")
                        .add(comparison)
                        .add(std::int64_t(target.node.value()))
                        .add(target.output ? std::int64_t(*target.output) : -1)
                        .key();
    if (auto kept = m_memo.find<ValueInspection>(key))
        return kept;
    QS_TRY(const Compared of, comparedOf(request, job));
    QS_TRY(ValueInspectionPtr inspection,
           inspectValue(*of.converted, *of.data, target, request.calibration->device, job,
                        originalOf(request)));
    m_memo.keep<ValueInspection>(key, inspection, bytesOf(*inspection));
    return inspection;
}

Result<SampleValuesPtr> ComparisonStages::sampleValues(const CompareRequest& request,
                                                       const SampleWanted& wanted,
                                                       const JobContext& job)
{
    QS_TRY(const Compared of, comparedOf(request, job));
    return qs::sampleValues(*of.converted, *of.data, wanted, request.calibration->device, job,
                            originalOf(request));
}

Result<std::vector<SampleInput>> ComparisonStages::sampleInputs(const SampleInputsRequest& request,
                                                                const JobContext& job)
{
    QS_TRY(const auto opened,
           data(*request.model, request.settings.compared(),
                comparedCut(request.settings, request.recipe.calibration)));
    std::vector<std::string> names;
    for (const Node* input : request.model->inputs())
        names.push_back(input->name);
    return qs::sampleInputs(*opened, names, request.samples, job);
}

Result<BlamePtr> ComparisonStages::blame(const CompareRequest& request, const BlameOptions& options,
                                         const JobContext& job)
{
    QS_TRY(const Key comparison, comparisonKey(request, job));
    const Key key = blameKey(comparison, options);
    if (auto kept = m_memo.find<Blame>(key))
        return kept;
    QS_TRY(const Compared of, comparedOf(request, job));
    QS_TRY(BlamePtr blame,
           blameSites(*of.converted, *of.data, request.calibration->device, options, job));
    m_memo.keep<Blame>(key, blame, blame->sites.size() * sizeof(SiteBlame));
    return blame;
}

Result<DiagnosisPtr> ComparisonStages::why(const CompareRequest& request,
                                           const BlameOptions& options, const JobContext& job)
{
    QS_TRY(const Key comparison, comparisonKey(request, job));
    const Key key = diagnosisKey(comparison, options, hasDotProduct());
    if (auto kept = m_memo.find<Diagnosis>(key))
        return kept;
    auto made = std::make_shared<Diagnosis>();
    QS_TRY(made->blame, blame(request, options, job));
    const PreparedModel& prepared = *request.calibration->prepared;
    made->causes = causesOf(*request.calibration, *made->blame, request.edited->addresses);
    made->units = noiseByUnit(*made->blame, *prepared.model, *prepared.plan);
    made->front = predictedFront(*made->blame, *prepared.model, *prepared.plan);
    made->options = options;
    made->eightBitsHold = hasDotProduct();
    made->data = request.settings.compared();
    m_memo.keep<Diagnosis>(key, made, diagnosisBytes(*made));
    return DiagnosisPtr(std::move(made));
}

void ComparisonStages::adoptDiagnosis(const StoredRun& stored, const PreparedModel& prepared,
                                      const Key& comparison)
{
    const auto diagnosis = diagnosisFromResult(stored.document, *prepared.model, *prepared.plan);
    if (!diagnosis || !*diagnosis)
        return; // it can be computed again
    const Key key = diagnosisKey(comparison, (*diagnosis)->options, (*diagnosis)->eightBitsHold);
    m_memo.keep<Diagnosis>(key, *diagnosis, diagnosisBytes(**diagnosis));
}

} // namespace qs
