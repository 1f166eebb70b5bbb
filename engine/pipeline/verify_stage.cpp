// SPDX-License-Identifier: Apache-2.0
#include "engine/base/files/file_hash.h"
#include "engine/configure/backend/settings.h"
#include "engine/pipeline/stage_chain.h"
#include "engine/verify/certify.h"
#include "engine/verify/python_run.h"

#include <filesystem>

namespace qs {

namespace {

/// A user whose settings cannot be written names it again.
void rememberPython(const std::string& asked)
{
    auto settings = readSettings();
    std::error_code code;
    const std::string path = std::filesystem::absolute(asked, code).string();
    if (!settings || asked.find('/') == std::string::npos || settings->python == path)
        return;
    settings->python = path;
    (void)writeSettings(*settings);
}

} // namespace

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
    QS_TRY(std::string recipe, fileSha256((fs::path(stored.folder) / "recipe.json").string(), job));
    QS_TRY(std::string content, m_hashes.of(request.data, model.info().sha256, job));
    QS_TRY(const std::string python, pythonFor(request.python));
    QS_TRY(Certificate certificate,
           certify({{*request.converted, *opened, stored.folder, stored.exports,
                     stored.exportHashes, stored.saturatingFiles, std::move(recipe), python,
                     request.runtimes, request.speed},
                    model.info().sha256,
                    request.data,
                    std::move(content)},
                   job));
    if (!request.python.empty() && certificate.ran())
        rememberPython(request.python);
    return certificate;
}

} // namespace qs
