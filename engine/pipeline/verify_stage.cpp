// SPDX-License-Identifier: Apache-2.0
#include "engine/base/sha256.h"
#include "engine/pipeline/stage_chain.h"
#include "engine/verify/certify.h"
#include "engine/verify/python_run.h"

#include <filesystem>

namespace qs {

Result<Certificate> StageChain::verify(const VerifyStageRequest& request, const JobContext& job)
{
    namespace fs = std::filesystem;
    const StoredRun& stored = request.stored;
    if (stored.exports.empty())
        return fail(makeError(ErrorCode::BadInput, "the result has no exports")
                        .inFile((fs::path(stored.folder) / "result.json").string())
                        .withHint("quantize with --export"));
    const Graph& model = *request.converted->prepared->model;
    QS_TRY(const auto opened, data(model, request.data, stored.recipe.calibration));
    QS_TRY(std::string recipe, fileSha256((fs::path(stored.folder) / "recipe.json").string()));
    QS_TRY(std::string content, m_hashes.of(request.data, model.info().sha256));
    return certify(
        {{*request.converted, *opened, stored.folder, stored.exports, stored.exportHashes,
          stored.ownRangeFiles, std::move(recipe),
          request.python.empty() ? usualPython() : request.python, request.runtimes, request.speed},
         model.info().sha256,
         request.data,
         std::move(content)},
        job);
}

} // namespace qs
