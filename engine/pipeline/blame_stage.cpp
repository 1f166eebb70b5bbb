// SPDX-License-Identifier: Apache-2.0
#include "engine/base/text.h"
#include "engine/blame/blame_sites.h"
#include "engine/blame/why_json.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/pipeline/causes_of.h"
#include "engine/pipeline/chain_run.h"
#include "engine/pipeline/keys/blame_keys.h"
#include "engine/pipeline/keys/content_keys.h"
#include "engine/pipeline/stage_chain.h"
#include "engine/verify/certificate.h"

namespace qs {

Key blameKey(const Key& comparison, const BlameOptions& options)
{
    KeyBuilder keyed("blame");
    keyed.add(comparison)
        .add(options.samples)
        .add(options.rows)
        .add(std::int64_t(options.seed))
        .add(options.exact.value_or(-1));
    for (const double weight : options.weights)
        keyed.add(numberText(weight, 17));
    return keyed.key();
}

Key diagnosisKey(const Key& comparison, const BlameOptions& options, bool eightBitsHold)
{
    return KeyBuilder("diagnosis")
        .add(blameKey(comparison, options))
        .add(std::int64_t(eightBitsHold))
        .key();
}

namespace {

std::size_t diagnosisBytes(const Diagnosis& diagnosis)
{
    return diagnosis.blame->sites.size() * sizeof(SiteBlame)
        + diagnosis.causes.size() * sizeof(Cause);
}

} // namespace

Result<BlamePtr> StageChain::blame(const CompareRequest& request, const BlameOptions& options,
                                   const JobContext& job)
{
    QS_TRY(const Key comparison, comparisonKey(request, job));
    const Key key = blameKey(comparison, options);
    if (auto kept = m_memo.find<Blame>(key))
        return kept;
    QS_TRY(const ConvertedPtr converted, convertedOf(request, job));
    QS_TRY(const auto opened,
           data(*converted->prepared->model, request.settings.compared(),
                comparedCut(request.settings, request.recipe.calibration)));
    QS_TRY(BlamePtr blame,
           blameSites(*converted, *opened, request.calibration->device, options, job));
    m_memo.keep<Blame>(key, blame, blame->sites.size() * sizeof(SiteBlame));
    return blame;
}

Result<DiagnosisPtr> StageChain::why(const CompareRequest& request, const BlameOptions& options,
                                     const JobContext& job)
{
    QS_TRY(const Key comparison, comparisonKey(request, job));
    const Key key = diagnosisKey(comparison, options, hasDotProduct());
    if (auto kept = m_memo.find<Diagnosis>(key))
        return kept;
    auto made = std::make_shared<Diagnosis>();
    QS_TRY(made->blame, blame(request, options, job));
    const PreparedModel& prepared = *request.calibration->prepared;
    made->causes = causesOf(*request.calibration, *made->blame, request.edited->file);
    made->units = noiseByUnit(*made->blame, *prepared.model, *prepared.plan);
    made->options = options;
    made->eightBitsHold = hasDotProduct();
    made->data = request.settings.compared();
    m_memo.keep<Diagnosis>(key, made, diagnosisBytes(*made));
    return DiagnosisPtr(std::move(made));
}

void StageChain::adoptDiagnosis(const StoredRun& stored, const PreparedModel& prepared,
                                const Key& comparison)
{
    const auto diagnosis = diagnosisFromResult(stored.document, *prepared.model, *prepared.plan);
    if (!diagnosis || !*diagnosis)
        return; // it can be made again
    const Key key = diagnosisKey(comparison, (*diagnosis)->options, (*diagnosis)->eightBitsHold);
    m_memo.keep<Diagnosis>(key, *diagnosis, diagnosisBytes(**diagnosis));
}

} // namespace qs
