// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/stage_chain.h"

#include "engine/calibrate/observed_types.h"
#include "engine/compare/collect_inputs.h"
#include "engine/compare/comparator.h"
#include "engine/convert/convert.h"
#include "engine/convert/form_edits.h"
#include "engine/convert/form_parts.h"
#include "engine/execute/fill_shapes.h"
#include "engine/export/exporter.h"
#include "engine/pipeline/chain_run.h"
#include "engine/pipeline/checks.h"
#include "engine/pipeline/keys/blame_keys.h"
#include "engine/pipeline/keys/content_keys.h"
#include "engine/pipeline/keys/decision_keys.h"
#include "engine/values/inspect_value.h"
#include "engine/verify/certificate.h"

#include <ATen/Parallel.h>

#include <algorithm>

namespace qs {

namespace {

/// Datasets that are kept open: a calibration's, a comparison's and a preview's.
constexpr std::size_t kOpenData = 3;

/// Rough sizes, for the bound of what is kept.
std::size_t bytesOf(const ConvertedModel& model)
{
    return heldBytes(*model.reference) + heldBytes(*model.lowered);
}
std::size_t bytesOf(const Comparison& comparison)
{
    return comparison.nodes.size() * sizeof(NodeError);
}

std::size_t bytesOf(const ValueInspection& inspection)
{
    std::size_t channels = inspection.channels.size();
    for (const WeightInspection& weight : inspection.weights)
        channels += weight.channels.size();
    return channels * sizeof(ChannelError) + inspection.samples.size() * sizeof(SampleError);
}

} // namespace

StageChain::StageChain()
    : StageChain(Options())
{
}

StageChain::StageChain(Options options)
    : m_options(std::move(options))
    , m_memo(m_options.resultBytes)
    , m_statistics(m_options.statisticsBytes)
    , m_work(m_options.valueBytes)
    , m_previewWork(m_options.previewBytes)
{
}

StageChain::~StageChain() = default;

Result<std::shared_ptr<const Dataset>>
StageChain::data(const Graph& model, const std::string& source, const CalibrationSettings& cut)
{
    const Key key = KeyBuilder("open data")
                        .add(modelKey(model))
                        .add(source)
                        .add(fileSignature(source))
                        .add(cutKey(cut))
                        .key();
    const std::lock_guard lock(m_dataMutex);
    for (auto it = m_opened.begin(); it != m_opened.end(); ++it)
        if (it->key == key) {
            m_opened.splice(m_opened.begin(), m_opened, it);
            return it->data;
        }
    QS_TRY(auto opened, openDataset(source, model, datasetOptions(cut)));
    std::shared_ptr<const Dataset> data = std::move(opened);
    m_opened.push_front({key, data});
    if (m_opened.size() > kOpenData)
        m_opened.pop_back();
    return data;
}

Result<GraphPtr> StageChain::typed(GraphPtr model, const Recipe& recipe,
                                   const RunSettings& settings, const JobContext& job)
{
    std::vector<CorrectedShape> corrected;
    {
        const std::lock_guard lock(m_shapesMutex);
        const auto found
            = m_corrected.empty() ? m_corrected.end() : m_corrected.find(modelKey(*model));
        if (found != m_corrected.end())
            corrected = found->second;
    }
    const bool isUntyped = countUntyped(*model) > 0;
    if (!isUntyped && corrected.empty())
        return model;
    QS_TRY(const Key content, m_hashes.of(settings.calibrationData, model->info().sha256, job));
    const CalibrationSettings& cut = recipe.calibration;
    const Key key = KeyBuilder("typed")
                        .add(modelKey(*model))
                        .add(batchesKey(content, cut, 1))
                        .add(std::int64_t(corrected.size()))
                        .key();
    if (auto kept = m_memo.find<Graph>(key))
        return kept;
    GraphPtr typed = model;
    if (isUntyped) {
        QS_TRY(const auto opened, data(*model, settings.calibrationData, cut));
        QS_TRY(typed, withObservedTypes(model, *opened, job));
    }
    typed = withCorrectedShapes(typed, corrected);
    m_memo.keep<Graph>(key, typed, typed->nodes().size() * 1024);
    return typed;
}

Result<GraphPtr> StageChain::shaped(GraphPtr model, const Recipe& recipe,
                                    const RunSettings& settings, const JobContext& job)
{
    if (!lacksShapes(*model))
        return model;
    QS_TRY(const auto opened, data(*model, settings.calibrationData, recipe.calibration));
    QS_TRY(const Batch first, opened->batch(0));
    QS_TRY(Graph shaped, withShapes(model, first.inputs, job));
    return std::make_shared<const Graph>(std::move(shaped));
}

Result<void> StageChain::saveModel(const GraphPtr& model, const Recipe& recipe,
                                   const RunSettings& settings, const std::string& path,
                                   const JobContext& job)
{
    job.report("export", path, 0);
    if (lacksShapes(*model) && settings.calibrationData.empty())
        return fail(
            makeError(ErrorCode::Unsupported, "the file holds no shapes, which a .pt2 needs")
                .inFile(model->info().path)
                .withHint("choose data (--data): their first batch shows them"));
    QS_TRY(const GraphPtr whole, shaped(model, recipe, settings, job));
    return savePt2(*whole, path, job);
}

Result<void> StageChain::savePartInputs(const EditedModelPtr& part, const Recipe& recipe,
                                        const RunSettings& settings, const std::string& path,
                                        const JobContext& job)
{
    CalibrationSettings all = recipe.calibration;
    all.batches = 0;
    QS_TRY(const auto opened, data(*part->file, settings.calibrationData, all));
    return writePartInputs(*part, *opened, path, job);
}

Result<ConvertedPtr> StageChain::convert(const ConvertRequest& request, const JobContext& job)
{
    const Calibration& calibration = *request.calibration;
    const PreparedModel& prepared = *calibration.prepared;
    const Key key = conversionKey(calibration, request.recipe);
    if (auto kept = m_memo.find<ConvertedModel>(key);
        kept && kept->prepared == calibration.prepared)
        return kept;
    if (std::any_of(request.recipe.edits.begin(), request.recipe.edits.end(), isFormEdit)) {
        // Nothing is lowered and checked anew for an edit of a form.
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
    QS_TRY(ConvertedPtr converted,
           convertModel(calibration.prepared, calibration.qparams, request.recipe, &first, job,
                        request.refused ? &*request.refused : nullptr));
    m_memo.keep<ConvertedModel>(key, converted, bytesOf(*converted));
    return converted;
}

namespace {

/// The edited model whose original is the float side; null if the float side is the model itself.
/// Without edits both are the same model, for which all error terms exist.
const EditedModel* originalOf(const CompareRequest& request)
{
    const Graph& model = *request.calibration->prepared->model;
    return measuresOriginal(request.settings, model) ? request.edited.get() : nullptr;
}

} // namespace

Result<Key> StageChain::comparedKey(const CompareRequest& request, const JobContext& job)
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

Result<Key> StageChain::comparisonKey(const CompareRequest& request, const JobContext& job)
{
    QS_TRY(const Key compared, comparedKey(request, job));
    return KeyBuilder("comparison")
        .add(conversionKey(*request.calibration, request.recipe))
        .add(compared)
        .add(measuresOriginal(request.settings, *request.calibration->prepared->model) ? "original"
                                                                                       : "edited")
        .key();
}

Result<ConvertedPtr> StageChain::convertedOf(const CompareRequest& request, const JobContext& job)
{
    if (request.converted->prepared == request.calibration->prepared)
        return onModelInputs(request.converted);
    QS_TRY(const ConvertedPtr made,
           convert({request.calibration, request.recipe, request.settings}, job));
    return onModelInputs(made);
}

Result<ComparisonPtr> StageChain::compare(const CompareRequest& request, const JobContext& job)
{
    QS_TRY(const Key key, comparisonKey(request, job));
    if (auto kept = m_memo.find<Comparison>(key))
        return kept;
    QS_TRY(const ConvertedPtr converted, convertedOf(request, job));
    QS_TRY(const auto opened,
           data(*converted->prepared->model, request.settings.compared(),
                comparedCut(request.settings, request.recipe.calibration)));
    QS_TRY(Key compared, comparedKey(request, job));
    const Continuation from {m_work, std::move(compared), opened->batchCount()};
    QS_TRY(ComparisonPtr comparison,
           compareModels(*converted, *opened, request.calibration->device, job,
                         m_options.valueBytes > 0 ? &from : nullptr, originalOf(request)));
    m_memo.keep<Comparison>(key, comparison, bytesOf(*comparison));
    return comparison;
}

Result<ValueInspectionPtr> StageChain::inspect(const CompareRequest& request,
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
    QS_TRY(const ConvertedPtr converted, convertedOf(request, job));
    QS_TRY(const auto opened,
           data(*converted->prepared->model, request.settings.compared(),
                comparedCut(request.settings, request.recipe.calibration)));
    QS_TRY(ValueInspectionPtr inspection,
           inspectValue(*converted, *opened, target, request.calibration->device, job,
                        originalOf(request)));
    m_memo.keep<ValueInspection>(key, inspection, bytesOf(*inspection));
    return inspection;
}

Result<SampleValuesPtr> StageChain::sampleValues(const CompareRequest& request,
                                                 const SampleWanted& wanted, const JobContext& job)
{
    QS_TRY(const ConvertedPtr converted, convertedOf(request, job));
    QS_TRY(const auto opened,
           data(*converted->prepared->model, request.settings.compared(),
                comparedCut(request.settings, request.recipe.calibration)));
    return qs::sampleValues(*converted, *opened, wanted, request.calibration->device, job,
                            originalOf(request));
}

Recalled StageChain::recall(const CalibrateRequest& request, const JobContext& job)
{
    Recalled out;
    const std::string& sha256 = request.model->info().sha256;
    if (countUntyped(*request.model) > 0
        || !m_hashes.known(request.settings.calibrationData, sha256))
        return out;
    const auto model = typed(request.model, request.recipe, request.settings, job);
    if (!model || *model != request.model) // the results are of another graph
        return out;
    const auto run = prepareRun(request, job);
    if (!run)
        return out;
    out.calibration = assemble(*run);
    if (!out.calibration)
        return out;
    out.converted = m_memo.find<ConvertedModel>(conversionKey(*out.calibration, request.recipe));
    if (!out.converted || !m_hashes.known(request.settings.compared(), sha256))
        return out;
    if (out.converted->prepared != out.calibration->prepared)
        return {out.calibration, nullptr, nullptr, nullptr};
    const auto key
        = comparisonKey({out.calibration, out.converted, request.recipe, request.settings}, job);
    if (!key)
        return out;
    out.comparison = m_memo.find<Comparison>(*key);
    out.diagnosis = m_memo.find<Diagnosis>(diagnosisKey(*key, {}, hasDotProduct()));
    return out;
}

} // namespace qs
