// SPDX-License-Identifier: Apache-2.0
#include "engine/verify/certify.h"

#include "engine/base/files/atomic_file.h"
#include "engine/base/sha256.h"
#include "engine/export/exporter.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace qs {

namespace {

namespace fs = std::filesystem;

/// What an export keeps beside its file: weights over 2 GB of an ONNX model.
std::vector<std::string> filesBeside(const std::string& folder, const std::string& file)
{
    std::vector<std::string> found;
    std::error_code code;
    for (const auto& entry : fs::directory_iterator(folder, code)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(file + ".") && entry.is_regular_file(code))
            found.push_back(name);
    }
    std::sort(found.begin(), found.end());
    return found;
}

void addHash(Certificate& certificate, const std::string& folder, const std::string& name)
{
    if (const auto hash = fileSha256((fs::path(folder) / name).string()))
        certificate.files[name] = *hash;
}

/// Names files that are no longer what an earlier certificate of the same result was about.
void failChanged(Certificate& certificate, const std::string& folder)
{
    std::ifstream in(fs::path(folder) / kCertificateFile, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    const auto before = certifiedFiles(text.str());
    const auto result = before.find("result.json");
    if (result == before.end() || result->second != certificate.files["result.json"])
        return; // of another run
    for (const auto& [name, hash] : before) {
        const auto now = certificate.files.find(name);
        if (now != certificate.files.end() && now->second == hash)
            continue;
        RuntimeVerdict verdict;
        verdict.file = name;
        verdict.outcome = RuntimeVerdict::Outcome::Failed;
        verdict.reason = now == certificate.files.end()
            ? "it was certified, and is gone"
            : "its bytes are not those of the certificate";
        const bool told = std::any_of(certificate.verdicts.begin(), certificate.verdicts.end(),
                                      [&file = name](const RuntimeVerdict& other) {
                                          return other.file == file
                                              && other.outcome == RuntimeVerdict::Outcome::Failed;
                                      });
        if (!told)
            certificate.verdicts.push_back(std::move(verdict));
    }
}

} // namespace

Result<Certificate> certify(const CertifyRequest& request, const JobContext& job)
{
    const VerifyRequest& exports = request.exports;
    QS_TRY(Certificate certificate, verifyExports(exports, job));
    certificate.modelSha256 = request.modelSha256;
    certificate.recipeSha256 = exports.recipeSha256;
    certificate.data = request.data;
    certificate.dataSha256 = request.dataSha256;
    for (const char* name : {"result.json", "recipe.json", "observations.npz"})
        addHash(certificate, exports.folder, name);
    for (const auto& [form, file] : exports.exports)
        for (const std::string& beside : filesBeside(exports.folder, file))
            addHash(certificate, exports.folder, beside);
    failChanged(certificate, exports.folder);
    if (certificate.passed())
        QS_CHECK(writeFileAtomically((fs::path(exports.folder) / kCertificateFile).string(),
                                     certificateJson(certificate)));
    return certificate;
}

} // namespace qs
