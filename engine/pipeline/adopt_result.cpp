// SPDX-License-Identifier: Apache-2.0
#include "engine/export/documents/result_writer.h"
#include "engine/pipeline/chain_run.h"
#include "engine/pipeline/keys/content_keys.h"
#include "engine/pipeline/keys/decision_keys.h"
#include "engine/pipeline/keys/forms_key.h"
#include "engine/pipeline/stage_chain.h"

#include <ATen/Parallel.h>

#include <filesystem>

namespace qs {

Result<std::string> StageChain::adopt(const CalibrateRequest& request, const StoredRun& stored,
                                      const JobContext& job)
{
    const std::string& sha256 = request.model->info().sha256;
    if (stored.modelSha256 != sha256)
        return "they are of another model file";
    if (planningKey(stored.recipe) != planningKey(request.recipe)
        || cutKey(stored.recipe.calibration) != cutKey(request.recipe.calibration))
        return "they are of other decisions";
    QS_TRY(const Key content, m_hashes.of(request.settings.calibrationData, sha256, job));
    if (content != stored.dataSha256)
        return "the calibration data were changed since";
    QS_TRY(auto corrected, correctedShapesOf(*request.model, stored.document));
    if (!corrected.empty()) {
        const std::lock_guard lock(m_shapesMutex);
        m_notedShapes.insert(sha256); // by the run that found them
        m_corrected.insert_or_assign(modelKey(*request.model), std::move(corrected));
    }
    QS_TRY(const Run run, prepareRun(request, job));
    if (run.device.device != stored.device || at::get_num_threads() != stored.threads)
        return "they were made on " + stored.device + " with " + std::to_string(stored.threads)
            + " threads";
    const Plan& plan = *run.prepared->plan;
    const auto path = (std::filesystem::path(stored.folder) / "observations.npz").string();
    QS_TRY(StoredObservations seen, readObservations(path, plan.observers));
    QS_TRY(const StoredQuantization numbers,
           quantizationFromResult(stored.document, *run.prepared->model, plan));
    seen.observations.device = stored.device;
    keepStatistics(run, seen.observations);
    const CalibrationPtr calibration = assemble(run, &seen.observations);
    for (const auto& [id, params] : numbers.qparams)
        if (const auto it = calibration->qparams.find(id);
            it == calibration->qparams.end() || it->second.scale != params.scale)
            return "their scales do not follow from their statistics";
    if (formsKey(stored.recipe) != formsKey(request.recipe))
        return "they are of other decisions";
    QS_TRY(const Key compared, m_hashes.of(request.settings.compared(), sha256, job));
    if (compared != stored.comparedSha256)
        return "the comparison's data were changed since";
    QS_TRY(const ComparisonPtr comparison,
           comparisonFromResult(stored.document, *run.prepared->model));
    if (comparison->nodes.empty()
        || stored.againstOriginal != measuresOriginal(request.settings, *request.model))
        return std::string();
    QS_TRY(const Key key,
           comparisonKey({calibration, nullptr, request.recipe, request.settings}, job));
    m_memo.keep<Comparison>(key, comparison, comparison->nodes.size() * sizeof(NodeError));
    adoptDiagnosis(stored, *run.prepared, key);
    return std::string();
}

} // namespace qs
