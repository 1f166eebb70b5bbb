// SPDX-License-Identifier: Apache-2.0
#include "engine/blame/blame_sites.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/pipeline/chain_run.h"
#include "engine/pipeline/keys/content_keys.h"
#include "engine/pipeline/stage_chain.h"

namespace qs {

Result<BlamePtr> StageChain::blame(const CompareRequest& request, const BlameOptions& options,
                                   const JobContext& job)
{
    QS_TRY(const Key comparison, comparisonKey(request, job));
    const Key key = KeyBuilder("blame")
                        .add(comparison)
                        .add(options.samples)
                        .add(options.rows)
                        .add(std::int64_t(options.seed))
                        .add(options.exact.value_or(-1))
                        .key();
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

} // namespace qs
